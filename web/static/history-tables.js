// A table for each picture of the History view: the same spans in words, a page at a time. Pure.

/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').Spans} Spans */
/** @typedef {import('./dom.js').VNode} VNode */
/** @typedef {import('./history.js').Shown} Shown */

import { h, lazy } from './dom.js';
import { lanes_shown } from './history-filter.js';
import { nth } from './history-replay.js';
import { PAST_WORDS, blamed, length, verdict_words, when } from './history-words.js';
import { plural, short_horizon, short_sha, visible } from './words.js';

const ROWS = 50;

/** @param {Shown} shown @param {Replay} replay @returns {VNode} */
export function tables(shown, replay) {
  /** @param {number} span */
  const times = (span) => [when(replay.start(span)), when(replay.end(span)), length(replay.end(span) - replay.start(span))];
  const verdicts = replay.lanes.map(({ verdict }, lane) => twin(shown, `verdict-${lane}`, lane === 0 ? 'The verdict' : `What if ${short_horizon(replay.horizons[lane])}`, ['Verdict'],
    [verdict], (span) => [...times(span), verdict_words(replay, span)]));
  const numbers = lanes_shown(shown, replay);
  const [own, other] = replay.lanes;
  return h('section', { key: 'tables', class: 'past-tables', 'aria-label': 'Tables' }, ...verdicts,
    other && twin(shown, 'differences', 'Where they differ', ['Because of'], [other.differences], (span) => [...times(span), blamed(replay, span)]),
    twin(shown, 'instances', 'The instances shown', ['Instance', 'Standing', 'Serving'],
      numbers.map((number) => own.standings[number]), (span, list) => [...times(span), visible(replay.names[numbers[list]]), PAST_WORDS[replay.word(span)], short_sha(visible(replay.sha(span) ?? '-'))]));
}

/**
 * @param {Shown} shown @param {string} name @param {string} title @param {string[]} columns
 * @param {Spans[]} lists one below the other @param {(span: number, list: number) => string[]} cells
 */
function twin(shown, name, title, columns, lists, cells) {
  const rows = lists.reduce((sum, { length }) => sum + length, 0);
  // Another horizon, window or filter may leave fewer rows than there were.
  const first = shown.tables[name] === undefined ? undefined : Math.min(shown.tables[name], Math.max(0, Math.ceil(rows / ROWS) - 1) * ROWS);
  const last = Math.min(rows, (first ?? 0) + ROWS);
  return lazy(name, [shown.replay, first, shown.replay && lanes_shown(shown, shown.replay)], () => h('details', { class: 'past-table', open: first !== undefined, on: { toggle: ['past', 'table', name] } },
    h('summary', null, `${title} as a table: ${plural(rows, 'row')}`),
    first !== undefined && h('div', { class: 'past-scroll', tabindex: 0, role: 'region', 'aria-label': `${title} as a table` }, h('table', null,
      h('thead', null, h('tr', null, ...['From', 'To', 'For', ...columns].map((column) => h('th', { scope: 'col' }, column)))),
      h('tbody', null, ...part(lists, first, last).map(([span, list]) => h('tr', null, ...cells(span, list).map((cell) => h('td', null, cell))))))),
    first !== undefined && rows > ROWS && h('div', { class: 'paging' },
      h('button', { type: 'button', disabled: first === 0, on: { click: ['past', 'page', [name, Math.max(0, first - ROWS)]] } }, 'Earlier rows'),
      `${(first + 1).toLocaleString('en')} to ${last.toLocaleString('en')} of ${rows.toLocaleString('en')}`,
      h('button', { type: 'button', disabled: last === rows, on: { click: ['past', 'page', [name, last]] } }, 'Later rows'))));
}

/** Some rows of lists that stand below each other: the span, and in which list. @param {Spans[]} lists @param {number} first @param {number} last @returns {[span: number, list: number][]} */
function part(lists, first, last) {
  /** @type {[number, number][]} */
  const rows = [];
  let before = 0;
  lists.forEach((spans, list) => {
    for (let at = Math.max(0, first - before); at < Math.min(spans.length, last - before); at++) rows.push([nth(spans, at), list]);
    before += spans.length;
  });
  return rows;
}
