// Another policy for the recorded probes: its controls, what it comes to, and all of them at a glance. Pure.

/** @typedef {import('../types/rehearsal').Known} Known */
/** @typedef {import('../types/rehearsal').Policy} Policy */
/** @typedef {import('../types/rehearsal').Shown} Shown */

import { h } from './dom.js';
import { icon } from './icons.js';
import { length, moment } from './rehearsal-words.js';
import { plural } from './words.js';

const SILENCES = [1, 2, 3, 4, 5, 6];
const TIMEOUTS_MS = [50, 100, 200, 300, 500, 1000, 2000, 3000];

/** The cells of the grid; what was recorded is always among them. @param {Known} record @returns {{silences: number[], timeouts: number[]}} */
export function cells({ recorded }) {
  /** @param {number[]} all @param {number} own */
  const among = (all, own) => [...new Set([...all, own])].sort((a, b) => a - b);
  return { silences: among(SILENCES, recorded.silences), timeouts: among(TIMEOUTS_MS, recorded.timeout_ms) };
}

/** @param {Policy} policy */
export function key({ silences, timeout_ms, joins, hold }) {
  return [silences, timeout_ms, joins, hold].join('/');
}

/** @param {number} ms */
function timeout(ms) {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

/** @param {Shown} shown */
export function controls(shown) {
  const { policy } = shown;
  return h('section', { key: 'policy', class: 'horizon roll-policy', 'aria-label': 'Policy' },
    h('h2', null, 'What if'),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'Silences in a row to leave' }, ...SILENCES.map((silences) =>
      h('button', { type: 'button', class: 'chip', 'aria-pressed': String(policy.silences === silences), 'aria-label': `${silences}${silences === shown.record?.recorded.silences ? ' recorded' : ''} silence${silences === 1 ? '' : 's'}`, on: { click: ['past', 'policy', { silences }, 'push'] } },
        String(silences), silences === shown.record?.recorded.silences && h('span', { class: 'chip-note' }, ' recorded')))),
    h('span', { class: 'after' }, 'silences to leave'),
    h('label', { class: 'roll-slide' }, h('span', null, `Probe timeout ${timeout(policy.timeout_ms)}`),
      h('input', {
        type: 'range', class: 'slider', min: 50, max: 3000, step: 50, value: String(policy.timeout_ms), 'aria-label': 'Probe timeout', 'aria-valuetext': timeout(policy.timeout_ms),
        on: { input: ['past', 'field', 'timeout_ms', 'replace'], change: ['past', 'field', 'timeout_ms', 'push'] },
      })),
    h('label', { class: 'roll-joins' }, 'Answers to join ',
      h('input', { type: 'number', class: 'field', min: 1, max: 99, step: 1, value: String(policy.joins), on: { input: ['past', 'field', 'joins', 'replace'], change: ['past', 'field', 'joins', 'push'] } })),
    h('label', null, h('input', { type: 'checkbox', checked: policy.hold, on: { change: ['past', 'hold'] } }), ' Hold the last one'));
}

/** @param {Shown} shown */
export function result(shown) {
  const { trial, recorded, policy, tries } = shown;
  if (!tries) return h('div', { key: 'result', class: 'nothing' });
  const record = /** @type {Known} */ (shown.record);
  const look = trial.nobody > 0 ? 'not_ready' : trial.unknown > 0 ? 'unknown' : 'ready';
  const other_time = policy.timeout_ms !== record.recorded.timeout_ms;
  return h('section', { key: 'result', class: 'what-if', 'data-what-if': look, 'aria-label': 'What if' },
    h('p', null,
      h('strong', { class: 'what-if-name' }, `What if ${plural(policy.silences, 'silence')}, ${timeout(policy.timeout_ms)}${policy.joins > 1 ? `, ${policy.joins} answers to join` : ''}${policy.hold ? ', the last one held' : ''}`), ' ',
      icon(look), ' ', h('strong', null, `nobody for ${plural(trial.nobody, 'tick')}`), ` instead of ${recorded.nobody} · ${plural(trial.unknown, 'tick')} unknown · ${leaves(trial.leaves)} instead of ${recorded.leaves}. `,
      h('span', { class: 'after' },
        Number.isNaN(trial.holds_until) ? 'It holds throughout. ' : `It no longer holds from ${moment(trial.holds_until)} on: the SIGTERM would have moved. `,
        other_time && 'Probe times stay as recorded: what another timeout would have asked at another moment is unknown. ',
        'A tick that would have gone elsewhere is unknown, never ok.')),
    h('button', { type: 'button', on: { click: ['past', 'recorded'] }, title: 'Esc' }, 'Exit what-if'));
}

/** @param {number} count */
function leaves(count) {
  return count === 1 ? '1 leave' : `${count} leaves`;
}

/** @param {Shown} shown */
export function grid(shown) {
  const record = /** @type {Known} */ (shown.record);
  const { silences, timeouts } = cells(record);
  return h('section', { key: 'grid', class: 'roll-grid', 'aria-label': 'All policies' },
    h('h2', null, 'Ticks that nobody would have answered, by silences to leave and probe timeout'),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The grid of policies' }, h('table', null,
      h('thead', null, h('tr', null, h('td', null), ...timeouts.map((ms) => h('th', { scope: 'col' }, timeout(ms))))),
      h('tbody', null, ...silences.map((count) => h('tr', null,
        h('th', { scope: 'row' }, plural(count, 'silence')),
        ...timeouts.map((timeout_ms) => {
          const policy = { ...shown.policy, silences: count, timeout_ms };
          const cell = shown.grid.get(key(policy));
          const own = count === record.recorded.silences && timeout_ms === record.recorded.timeout_ms;
          const look = !cell ? '' : cell.nobody > 0 ? 'roll-bad' : cell.unknown > 0 ? 'roll-vague' : 'roll-good';
          const words = cell ? `${plural(cell.nobody, 'tick')} for nobody, ${cell.unknown} unknown${Number.isNaN(cell.holds_until) ? '' : ', no longer holds'}${own ? ', recorded' : ''}` : 'not replayed yet';
          const few = cell ? `${cell.nobody}${Number.isNaN(cell.holds_until) ? '' : ' †'}` : '…';
          const more = cell && cell.unknown > 0 ? ` +${cell.unknown} ?` : '';
          return h('td', { class: own ? 'roll-own' : undefined }, h('button', {
            type: 'button', class: look, 'data-cell': `${count}/${timeout_ms}`, 'aria-label': `${few}${more}: ${words}`, title: words,
            'aria-pressed': String(count === shown.policy.silences && timeout_ms === shown.policy.timeout_ms), on: { click: ['past', 'policy', { silences: count, timeout_ms }, 'push'] },
          }, few, more !== '' && h('small', null, more)));
        })))))),
    h('p', { class: 'after' }, `Framed: as recorded (${plural(record.recorded.silences, 'silence')}, ${length(record.recorded.timeout_ms * 1000)}). + ? so many more are unknown · † the SIGTERM would have moved`));
}
