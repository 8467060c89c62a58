// The head of the page and the verdict under it. Pure.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('./dom.js').VNode} VNode */

import { VIEWS } from './address.js';
import { is_known } from './alive.js';
import { h } from './dom.js';
import { icon } from './icons.js';
import { agreement, because, headline, skew, word } from './sayings.js';
import { age, moment, plural, spoken, visible, zone_name } from './words.js';

/** Below this nobody's ages are wrong by what they can read. */
const SKEW_SHOWN_MS = 2000;

const VIEW_WORDS = { live: 'Live', history: 'History', rehearsal: 'Rehearsal' };

/** @param {State} state @param {Time} time */
export function header(state, time) {
  return h('header', { class: 'top', key: 'top' },
    h('div', { class: 'brand' }, h('span', { class: 'lamp', 'aria-hidden': 'true' }), h('span', { class: 'brand-name' }, 'Greenlight'),
      state.hosted && state.origin && h('span', { class: 'origin' }, state.origin)),
    h('nav', { class: 'views', 'aria-label': 'Views' }, ...VIEWS.map((name) =>
      h('a', { href: name === 'live' ? '?' : `?view=${name}`, 'aria-current': state.view.view === name ? 'page' : undefined, on: { click: ['view', name] } }, VIEW_WORDS[name]))),
    h('p', { class: `alive alive-${state.phase}` }, h('span', { class: 'pulse', 'aria-hidden': 'true' }), alive(state, time)),
    h('div', { class: 'tools' },
      h('button', { type: 'button', on: { click: ['pause'] }, 'aria-pressed': String(state.paused), 'aria-label': 'Pause', title: 'Pause reordering (p)' }, state.paused ? 'Paused' : 'Pause'),
      h('button', { type: 'button', on: { click: ['copy'] }, title: 'Copy a link to this view (c)' }, state.note || 'Copy link'),
      state.saved === ''
        ? h('button', { type: 'button', on: { click: ['pick'] }, title: 'Open a saved /app, an export of a history or the record of a rehearsal (o); or drop the file on this page' }, 'Open saved…')
        : h('button', { type: 'button', on: { click: ['live'] } }, 'Back to live'),
      h('button', { type: 'button', on: { click: ['help', true] }, class: 'round', 'aria-label': 'Keyboard help', title: 'Keyboard help (?)' }, '?'),
    ),
  );
}

/** @param {State} state @param {Time} time */
function alive(state, time) {
  const heard = state.line.heard_ms === null ? '' : ` · heard ${age((time.local_ms - state.line.heard_ms) / 1000)} ago`;
  const off = Math.abs(time.skew_ms) > SKEW_SHOWN_MS ? ` · skew ${skew(time.skew_ms)}` : '';
  const words = {
    starting: 'connecting…',
    live: `live${heard}${off}`,
    checking: 'checking…',
    reconnecting: `reconnecting${heard}${off}`,
    unknown: `not connected${heard}`,
    asleep: 'asleep',
    saved: `saved: ${visible(state.saved)}`,
    nothing: 'no daemon',
  };
  return words[state.phase];
}

/** @param {State} state @param {Time} time */
export function banner(state, time) {
  const verdict = word(state);
  return h('section', { class: 'banner', key: 'banner', 'data-verdict': verdict, 'aria-label': 'Verdict' },
    h('div', { class: 'banner-mark' }, icon(verdict)),
    h('div', { class: 'banner-said', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true' },
      h('h1', null, headline(state, time)),
      h('p', { class: 'because' }, because(state, time)),
    ),
    h('p', { class: 'banner-since' }, ...since(state, time)),
    h('p', { class: 'banner-meta' }, meta(state, time)),
  );
}

/** @param {State} state @param {Time} time @returns {(VNode|string)[]} */
function since(state, time) {
  if (word(state) === 'unknown') return [];
  const from = state.since_unix;
  if (from === null) return [h('span', { class: 'since-age' }, '')];
  return [
    h('span', { class: 'since-for' }, 'for '),
    h('span', { class: 'since-age' }, spoken(time.now - from)),
    h('span', { class: 'since-at' }, ` since ${moment(from, time.now, time.zone)} ${zone_name(time.zone)}`),
  ];
}

/** @param {State} state @param {Time} time */
function meta(state, time) {
  const { board, judged } = state;
  if (!board || !judged) return '';
  const zone = zone_name(time.zone);
  const parts = [];
  if (state.phase === 'saved') {
    parts.push(`taken ${moment(board.app.now_unix, time.local_ms / 1000, time.zone, true)} ${zone}`);
    parts.push(`judged at ${moment(judged.now, time.local_ms / 1000, time.zone, true)} ${zone}`);
  } else if (!is_known(state.phase)) {
    parts.push(`last judged at ${moment(judged.now, time.now, time.zone, true)} ${zone}`);
  } else {
    parts.push(agreement(state, time));
    if (state.wasm === 'failed') parts.push('this browser cannot run the policy: the daemon’s own judgement is shown, and there is no what-if');
    else parts.push(`judged by this browser’s clock at ${moment(judged.now, time.now, time.zone, true)} ${zone}`);
    if (board.app.store?.durable === false) parts.push('the daemon’s store is in trouble: what it learns now is not kept');
    const trouble = board.app.prober?.trouble;
    if (trouble) parts.push(`the daemon’s prober cannot ask ${plural(trouble.members, 'member')} (${visible(trouble.code)}): nobody moves in rotation for it`);
  }
  return parts.filter((part) => part !== '').join(' · ');
}
