// The keyboard help, what the words mean, and the moment at which a saved snapshot is judged. Pure.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('../types/page').Standing} Standing */

import { h, lazy } from './dom.js';
import { icon } from './icons.js';
import { KEYS } from './keys.js';
import { STANDING_WORDS, age, moment, short_horizon, visible, zone_name } from './words.js';

/** @type {Record<Standing, string>} */
const MEANINGS = {
  live_degraded: 'serves nothing, has served before, and changed within the horizon: it keeps the verdict at not ready.',
  serving: 'serves, and somebody vouches for it now.',
  stale_degraded: 'serves nothing and has not changed for longer than the horizon: named, but it no longer blocks.',
  never_green: 'has never served: it does not count.',
};

/** @param {State} state */
export function help(state) {
  return lazy('help', [state.keys], () => h('dialog', { key: 'help', id: 'help', class: 'help', 'aria-labelledby': 'help-name' },
    h('form', { method: 'dialog', on: { submit: ['help', false] } },
      h('h2', { id: 'help-name' }, 'Keyboard'),
      h('dl', { class: 'keys' }, ...KEYS.map(({ key, does }) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, does))),
        h('div', null, h('dt', null, h('kbd', null, 'Esc')), h('dd', null, 'Leave the what-if, or close this'))),
      h('label', { class: 'switch' }, h('input', { type: 'checkbox', checked: state.keys, on: { change: ['keys'] } }), ' Single-letter keys'),
      h('h2', null, 'Standings'),
      h('dl', { class: 'meanings' }, .../** @type {Standing[]} */ (Object.keys(MEANINGS)).map((standing) =>
        h('div', null, h('dt', { class: `standing is-${standing}` }, icon(standing), STANDING_WORDS[standing]), h('dd', null, MEANINGS[standing])))),
      h('button', { type: 'submit', class: 'primary' }, 'Close'),
    )));
}

/** @param {State} state @param {Time} time */
export function saved_moment(state, time) {
  const { board, judged } = state;
  if (!board || !judged) return h('section', { key: 'moment', class: 'nothing' });
  const taken = board.app.now_unix;
  const next = judged.flips[0];
  const today = time.local_ms / 1000;
  return h('section', { key: 'moment', class: 'moment', 'aria-label': 'Moment' },
    h('h2', null, 'Judged'),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'Moment' },
      h('button', { type: 'button', class: 'chip', 'aria-pressed': String(state.view.at === null), on: { click: ['moment', null] } }, 'when it was taken'),
      next !== undefined && h('button', { type: 'button', class: 'chip', 'data-next-flip': next.at_unix, on: { click: ['moment', next.at_unix] } }, `at the next flip, ${moment(next.at_unix, today, time.zone, true)}`),
      h('button', { type: 'button', class: 'chip', on: { click: ['moment', Math.max(taken, Math.floor(today))] } }, 'now')),
    h('form', { class: 'after', on: { submit: ['moment-after'] } }, 'after ',
      h('input', { type: 'text', class: 'field', size: 8, 'aria-label': 'Time after the snapshot', value: short_horizon(judged.now - taken), autocomplete: 'off', on: { change: ['moment-after'] } })),
    h('p', { class: 'moment-said' }, `${moment(judged.now, today, time.zone, true)} ${zone_name(time.zone)}${judged.now === taken ? '' : `, ${age(judged.now - taken)} after it was taken`}`),
  );
}

/** @param {State} state @param {Time} time */
export function footer(state, time) {
  const app = state.board?.app;
  if (!app) return h('footer', { key: 'footer' });
  const parts = [`Greenlight ${visible(app.version)}`, `revision ${visible(state.board?.id ?? '')}`, `daemon started ${moment(app.started_unix, time.now, time.zone)} ${zone_name(time.zone)}`];
  return h('footer', { key: 'footer' }, h('p', null, parts.join(' · ')), h('p', null, h('a', { href: `${state.origin ?? ''}/status` }, 'Plain text'), ' · ', h('a', { href: `${state.origin ?? ''}/app` }, '/app')));
}
