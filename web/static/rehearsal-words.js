// What a rehearsal came to, in words and tables. Pure; every sum and every cause is core's.

/** @typedef {import('../types/rehearsal').Known} Known */
/** @typedef {import('../types/rehearsal').Line} Line */
/** @typedef {import('../types/rehearsal').Shown} Shown */
/** @typedef {import('./dom.js').VNode} VNode */

import { h } from './dom.js';
import { icon } from './icons.js';
import { MEMBERSHIP, answer_time, columns, doing_at, last_by, place_at } from './rehearsal-record.js';
import { plural, visible } from './words.js';

const LOOKS = /** @type {Record<string, string>} */ ({ kept: 'ready', broken: 'not_ready', incomplete: 'not_ready' });
/** Side by side, as the report has them; `lost` is four classes. */
const PROMISE = ['ok', 'lost', 'slow', 'server_error', 'unexpected', 'nobody', 'ours'];
export const MISSES_SHOWN = 10;
export const MORE_SHOWN = 100;

/** A length of time: rounded down, as the report does it. @param {number} us */
export function length(us) {
  return Math.abs(us) < 1e6 ? `${(Math.trunc(us / 100) / 10).toFixed(1)} ms` : `${(Math.trunc(us / 1e5) / 10).toFixed(1)} s`;
}

/** A moment, to the millisecond. @param {number} us */
export function moment(us) {
  return `${us < 0 ? '−' : ''}${(Math.trunc(Math.abs(us) / 1000) / 1000).toFixed(3)} s`;
}

/** @param {string} word */
export function spaced(word) {
  return word.replaceAll('_', ' ');
}

/** @param {Known} record */
export function verdict({ outcome, why, sums, findings }) {
  const look = LOOKS[outcome] ?? 'unknown';
  const more = findings.filter((finding) => finding !== why);
  return h('section', { key: 'verdict', class: 'banner', 'data-verdict': look, 'data-outcome': outcome, 'aria-label': 'Outcome' },
    h('div', { class: 'banner-mark' }, icon(look)),
    h('div', { class: 'banner-said', role: 'status' },
      h('h1', null, outcome.replace(/^./, (first) => first.toUpperCase())),
      h('p', { class: 'because' }, `${visible(why)}.`)),
    h('p', { class: 'banner-since' }, h('span', { class: 'since-age' }, `exit ${sums.exit}`)),
    more.length > 0 && h('ul', { class: 'banner-meta' }, ...more.map((finding) => h('li', null, visible(finding)))));
}

/** @param {Known} record */
export function sums({ lanes, sums: of }) {
  const [all, fresh, kept] = lanes;
  /** @param {typeof all} lane @param {string} name */
  const count = (lane, name) => (name === 'lost' ? lane.lost : lane.of[name]);
  const facts = [
    Number.isNaN(of.drain_margin_us) ? '' : `still accepted for ${length(of.drain_margin_us)} after leaving: the drain margin`,
    `longest gap ${length(of.longest_gap_us)}`,
    `${of.reopened} reopened`,
    `sent late at most ${length(of.late_max_us)}, 99 of 100 within ${length(of.late_p99_us)}`,
    of.late_ticks > 0 && `${plural(of.late_ticks, 'tick')} later than the probe timeout`,
    of.without_outcome > 0 && `${plural(of.without_outcome, 'tick')} without outcome`,
    of.faults > 0 && `${plural(of.faults, 'probe')} could not be asked`,
    of.late_answers > 0 && `${plural(of.late_answers, 'late answer')}`,
    of.control_failed > 0 ? `its own echo server failed ${of.control_failed} times` : `its own echo server took at most ${length(of.control_max_us)}`,
  ].filter((fact) => fact);
  return h('section', { key: 'sums', class: 'roll-sums', 'aria-label': 'Sums' },
    h('dl', { class: 'roll-tiles' }, ...PROMISE.map((name) =>
      h('div', { 'data-class': name, class: count(all, name) > 0 && name !== 'ok' ? 'roll-bad' : '' },
        h('dt', null, spaced(name)),
        h('dd', null, h('b', null, count(all, name).toLocaleString('en')), h('small', null, ` ${count(fresh, name)} fresh · ${count(kept, name)} kept`))))),
    h('p', { class: 'after' }, `${plural(of.ticks, 'tick')} · ${facts.join(' · ')}`),
    h('details', { class: 'roll-twin' }, h('summary', null, 'Every class and lane'),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Every class and lane' }, h('table', null,
        h('thead', null, h('tr', null, ...['Class', 'All', 'Fresh connections', 'Kept connections'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', null, ...Object.keys(all.of).map((name) => h('tr', null, h('th', { scope: 'row' }, spaced(name)), ...lanes.map((lane) => h('td', null, String(lane.of[name])))))))),
      h('p', null, 'Lost: refused, cut, torn and garbled.')));
}

/** @param {Line} answer */
export function answered(answer) {
  return spaced(answer.kind) + (answer.status ? ` ${answer.status}` : '') + (answer.code ? ` ${visible(answer.code)}` : '');
}

/** @param {Known} record @param {number} at_us */
function states(record, at_us) {
  return record.processes.map((process) => `${visible(process.name)} ${doing_at(record, process, at_us)}`).join(', ');
}

/** @param {Line} tick */
function ended(tick) {
  return [spaced(tick.class), tick.status, tick.error && visible(tick.error)].filter((word) => word).join(' ');
}

/** Everything at one moment, a line each. @param {Shown} shown @param {number} at_us @returns {string[]} */
export function at_moment(shown, at_us) {
  const record = /** @type {Known} */ (shown.record);
  const lines = record.processes.map((process, place) => {
    const name = visible(process.name);
    const probe = last_by((record.by.probe ?? []).filter((one) => one.process === process.name), at_us, (one) => one.at_us);
    const what_if = shown.tries ? `; what if: ${MEMBERSHIP[place_at(shown.trial.shifts[place], at_us)]}` : '';
    const heard = probe ? `; last probe ${answered(probe.answer)} after ${length(probe.at_us - probe.due_us)}, ${length(at_us - probe.at_us)} before` : '';
    return `${name}: ${doing_at(record, process, at_us)}${what_if}${heard}`;
  });
  const tick = last_by(record.ticks, at_us, (one) => one.due_us);
  if (tick) lines.push(`tick ${tick.tick}, due ${moment(tick.due_us)}: ${tick.process ? `asked ${visible(tick.process)}, ` : ''}${ended(tick)}${tick.process ? ` after ${length(tick.end_us - tick.due_us)}` : ''}`);
  if (shown.tries && at_us >= shown.trial.holds_until) lines.push('the replay no longer holds here');
  return lines;
}

/** @param {Shown} shown @param {number} many */
export function misses(shown, many) {
  const record = /** @type {Known} */ (shown.record);
  const rows = record.misses.slice(0, many);
  const rest = record.misses.length - rows.length;
  return h('section', { key: 'misses', class: 'instances roll-misses', 'aria-label': 'Misses' },
    h('h2', null, record.misses.length === 0 ? 'No tick was missed' : `${plural(record.misses.length, 'miss').replace(/misss$/, 'misses')}`),
    rows.length > 0 && h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The list of misses' }, h('table', null,
      h('thead', null, h('tr', null, ...['Due', 'Asked', 'Class', 'Error', 'Connection', 'States when due', 'Ended', 'States then'].map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, ...rows.map((tick) => h('tr', { key: String(tick.tick), 'data-tick': tick.tick },
        h('th', { scope: 'row' }, h('button', { type: 'button', class: 'opener', on: { click: ['past', 'at', tick.due_us] } }, moment(tick.due_us))),
        h('td', null, tick.process ? visible(tick.process) : 'nobody'),
        h('td', null, spaced(tick.class)),
        h('td', null, [tick.status, tick.error && visible(tick.error)].filter((word) => word).join(' ') || '–'),
        h('td', null, tick.connection === null ? '–' : `${tick.connection}, use ${tick.uses}, ${tick.lane}`),
        h('td', null, states(record, tick.due_us)),
        h('td', null, moment(tick.end_us)), h('td', null, states(record, tick.end_us))))))),
    rest > 0 && h('p', { class: 'paging' }, `and ${rest} more`, h('button', { type: 'button', on: { click: ['past', 'more'] } }, `Show ${Math.min(rest, MORE_SHOWN)} more`)));
}

/** What the picture shows, as a table. @param {Shown} shown */
export function twin(shown) {
  const record = /** @type {Known} */ (shown.record);
  const { by } = record;
  /** @type {[number, string, string][]} */
  const rows = [
    ...(by.started ?? []).map((one) => row(one, `started, process ${one.pid}`)),
    ...(by.sigterm ?? []).map((one) => row(one, 'got its SIGTERM')),
    ...(by.exited ?? []).map((one) => row(one, `ended: ${visible(one.exit)}`)),
    ...(by.killed ?? []).map((one) => row(one, 'was killed by the rehearsal')),
    ...(by.last_words ?? []).map((one) => row(one, `last words: ${visible(one.text)}`)),
    ...(by.elsewhere ?? []).map((one) => row(one, `asked at ${visible(one.asked)}, listens at ${visible(one.found)}`)),
    ...(by.move ?? []).map((one, at) => row(one, `${one.move === 'join' ? 'joined' : 'left'}: ${visible(record.causes[at])}`)),
    ...(by.probe ?? []).filter((one) => one.answer.kind !== 'ready').map((one) => row(one, `probe: ${answered(one.answer)}`)),
    ...(by.late ?? []).map((one) => row(one, `late answer: ${answered(one.answer)}`)),
  ];
  if (shown.tries) {
    record.processes.forEach((process, place) => rows.push(...shown.trial.shifts[place].map((shift) => row({ ...shift, process: process.name }, `what if: ${MEMBERSHIP[shift.to]}`))));
  }
  rows.sort((a, b) => a[0] - b[0]);
  return h('details', { class: 'roll-twin' }, h('summary', null, 'The picture as a table'),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The picture as a table' }, table(['When', 'Who', 'What'], rows.slice(0, ROWS).map(([at_us, ...rest]) => [moment(at_us), ...rest]))),
    rows.length > ROWS && h('p', null, `and ${rows.length - ROWS} more`));
}

/** The answer times of the picture, as a table. @param {Shown} shown */
export function times_twin(shown) {
  const record = /** @type {Known} */ (shown.record);
  const { from_us, to_us } = shown;
  const rows = columns(record.ticks, from_us, to_us, SPANS, answer_time).map((some, at) =>
    [moment(from_us + ((to_us - from_us) * at) / SPANS), String(some.length), ...(some.length === 0 ? ['–', '–', '–'] : [some[0], some[some.length >> 1], /** @type {number} */ (some.at(-1))].map(length))]);
  return h('details', { class: 'roll-twin' }, h('summary', null, 'Answer times as a table'),
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Answer times as a table' }, table(['From', 'Asked', 'Least', 'Middle', 'Most'], rows)));
}

const SPANS = 20;
const ROWS = 500;

/** @param {Line} line @param {string} words @returns {[number, string, string]} */
function row(line, words) {
  return [line.at_us, visible(line.process), words];
}

/** @param {string[]} head @param {string[][]} rows */
export function table(head, rows) {
  return h('table', null, h('thead', null, h('tr', null, ...head.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, ...rows.map(([first, ...rest]) => h('tr', null, h('th', { scope: 'row' }, first), ...rest.map((cell) => h('td', null, cell))))));
}
