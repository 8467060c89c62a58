// The horizon's controls, the what-if they lead to, and what time alone will change. Pure.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('../types/page').Flip} Flip */
/** @typedef {import('../types/page').Judged} Judged */
/** @typedef {import('./dom.js').VNode} VNode */

import { is_known } from './alive.js';
import { h } from './dom.js';
import { icon } from './icons.js';
import { WORDS, differences } from './sayings.js';
import { STANDING_WORDS, countdown, moment, plural, short_horizon, spoken_horizon, visible, zone_name } from './words.js';

const DAY = 86_400;
/** @type {(number|null)[]} */
const PRESETS = [900, 1800, 3600, 14_400, DAY, null];
/** The slider runs from a minute to seven days; each step is about 4 %. */
const FROM_SECS = 60;
const TO_SECS = 604_800;
export const STEPS = 240;
/** Names in the what-if's line; the table marks them all. */
const NAMED = 4;

/** @param {number} step @returns {number} seconds, rounded to what people say */
export function secs_of_step(step) {
  const exact = FROM_SECS * (TO_SECS / FROM_SECS) ** (step / STEPS);
  const unit = exact < 1200 ? 60 : exact < 7200 ? 300 : exact < 86_400 ? 1800 : 21_600;
  return Math.round(exact / unit) * unit;
}

/** @param {number|null} secs */
export function step_of_secs(secs) {
  if (secs === null) return STEPS;
  const step = (STEPS * Math.log(Math.max(secs, FROM_SECS) / FROM_SECS)) / Math.log(TO_SECS / FROM_SECS);
  return Math.min(STEPS, Math.round(step));
}

/** @param {State} state */
export function horizon(state) {
  const daemon = state.board ? state.board.app.readiness.stale_after_secs : undefined;
  const chosen = state.trial === undefined ? daemon : state.trial;
  const off = state.wasm !== 'running' || !is_known(state.phase);
  const presets = daemon === undefined || PRESETS.includes(daemon) ? PRESETS : [...PRESETS, daemon].sort(by_length);
  return h('section', { class: 'horizon', key: 'horizon' },
    h('h2', null, 'Horizon'),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'What if a change counted for' }, ...presets.map((secs) =>
      h('button', {
        type: 'button', class: 'chip', disabled: off, 'aria-pressed': String(chosen === secs),
        // What is seen comes first in what is said: who speaks to a machine says what they see.
        'aria-label': `${preset_name(secs)}${secs === daemon ? ' daemon’s' : ''}${secs === null ? '' : `, ${spoken_horizon(secs)}`}`,
        on: { click: ['horizon', secs] },
      }, preset_name(secs), secs === daemon && h('span', { class: 'chip-note' }, ' daemon’s')))),
    h('input', {
      type: 'range', class: 'slider', min: 0, max: STEPS, step: 1, disabled: off, value: String(step_of_secs(chosen ?? null)),
      'aria-label': 'A change counts for', 'aria-valuetext': spoken_horizon(chosen ?? null),
      on: { input: ['slide'], change: ['slid'] },
    }),
    h('form', { class: 'horizon-form', on: { submit: ['field-done'] } },
      h('input', {
        type: 'text', id: 'horizon', class: 'field', 'aria-label': 'Horizon', disabled: off, autocomplete: 'off', spellcheck: 'false',
        inputmode: 'text', size: 6, 'aria-invalid': String(state.bad_field), 'aria-describedby': state.bad_field ? 'bad-field' : undefined,
        value: state.field ?? (chosen === undefined ? '' : short_horizon(chosen)),
        on: { input: ['field'], change: ['field-done'] },
      }), state.bad_field && h('span', { id: 'bad-field', class: 'bad-field', role: 'alert' }, BAD_FIELD)),
  );
}

export const BAD_FIELD = 'A horizon is 15m, 1h30m, 7d, 0s or never';

/** A day is compared with hours here. @param {number|null} secs */
export function preset_name(secs) {
  return secs === DAY ? '24h' : short_horizon(secs);
}

/** @param {number|null} a @param {number|null} b */
function by_length(a, b) {
  return (a ?? Infinity) - (b ?? Infinity);
}

/** @param {State} state @returns {VNode} */
export function what_if(state) {
  const { what_if: trial, judged, trial: secs } = state;
  if (!trial || !judged || secs === undefined) return h('div', { key: 'what-if', class: 'nothing' });
  const changed = differences(state);
  const said = trial.ready ? 'ready' : 'not_ready';
  const instead = trial.ready === judged.ready ? `Still ${WORDS[said].toLowerCase()}` : `${WORDS[said]} instead of ${judged.ready ? 'ready' : 'not ready'}`;
  return h('section', { key: 'what-if', class: 'what-if', 'data-what-if': said, 'aria-label': 'What if' },
    h('p', null,
      h('strong', { class: 'what-if-name' }, `What if ${short_horizon(secs)}`), ' ',
      icon(said), ' ', h('strong', null, instead), ' · ',
      changed.length === 0 ? 'no instance would stand otherwise' : named(state, changed)),
    h('button', { type: 'button', on: { click: ['exit'] }, title: 'Esc' }, 'Exit what-if'),
  );
}

/** @param {State} state @param {{name: string, at: number}[]} changed */
function named(state, changed) {
  const trial = /** @type {Judged} */ (state.what_if);
  const first = changed.slice(0, NAMED).map(({ name, at }) => `${visible(name)} would be ${STANDING_WORDS[trial.standing(at)].toLowerCase()}`);
  const rest = changed.length - NAMED;
  return first.join(', ') + (rest > 0 ? ` and ${plural(rest, 'other')} would change` : '');
}

const SHOWN_SECS = 3600;

/** The next hour as a bar, and in words for those who cannot see it. @param {State} state @param {Time} time */
export function next(state, time) {
  const judged = state.what_if ?? state.judged;
  if (!judged || !is_known(state.phase)) return h('div', { key: 'next', class: 'nothing' });
  const end = judged.now + SHOWN_SECS;
  const within = judged.flips.filter((flip) => flip.at_unix <= end);
  const later = judged.flips.find((flip) => flip.at_unix > end);
  let from = judged.now;
  let ready = judged.ready;
  const spans = [];
  for (const flip of [...within, { at_unix: end, ready: judged.ready, because: '' }]) {
    spans.push(span(ready, flip.at_unix - from));
    from = flip.at_unix;
    ready = flip.ready;
  }
  return h('section', { class: 'next', key: 'next', 'aria-label': 'Next hour' },
    h('h2', null, 'Next hour'),
    h('div', { class: 'bar', 'aria-hidden': 'true' }, h('span', { class: 'bar-end' }, 'now'), h('div', { class: 'bar-spans' }, ...spans), h('span', { class: 'bar-end' }, '+1 h')),
    h('ul', { class: 'flips' },
      ...(within.length === 0 ? [h('li', { class: 'flip-none' }, `No flip within the hour${state.what_if ? ' under this horizon' : ''}.`)] : within.map((flip) => flip_line(state, flip, judged, time))),
      later !== undefined && flip_line(state, later, judged, time)),
  );
}

/** @param {boolean} ready @param {number} secs */
function span(ready, secs) {
  const wide = secs > SHOWN_SECS / 8;
  return h('div', { class: ready ? 'span span-ready' : 'span span-not-ready', vars: { '--share': String(Math.max(secs, 12)) } }, wide && h('span', null, ready ? 'ready' : 'not ready'));
}

/** @param {State} state @param {Flip} flip @param {Judged} judged @param {Time} time */
function flip_line(state, flip, judged, time) {
  const name = visible(flip.because);
  const at = state.board?.index.get(flip.because);
  const source = at === undefined || !state.board ? '' : visible(state.board.rows[at].source);
  const cause = flip.ready ? `when ${name} ages out` : `when source ${source} lapses and takes ${name} with it`;
  return h('li', { class: 'flip', 'data-at': flip.at_unix }, icon(flip.ready ? 'ready' : 'not_ready'),
    h('span', null, h('strong', null, `${flip.ready ? 'Ready' : 'Not ready'} at ${moment(flip.at_unix, time.now, time.zone)} ${zone_name(time.zone)}`),
      ` in ${countdown(flip.at_unix - judged.now)}, ${cause}`));
}
