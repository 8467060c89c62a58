// A table for each picture of the History view: the same spans in words, a page at a time. Pure.

/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('./dom.js').VNode} VNode */
/** @typedef {import('./history.js').Shown} Shown */

import { h, lazy } from './dom.js';
import { lanes_shown } from './history-replay.js';
import { PAST_WORDS, blamed, length, verdict_words, when } from './history-words.js';
import { plural, short_horizon, short_sha, visible } from './words.js';

const ROWS = 50;

/** @param {Shown} shown @param {Replay} replay @returns {VNode} */
export function tables(shown, replay) {
  /** @param {number} span */
  const times = (span) => [when(replay.start(span)), when(replay.end(span)), length(replay.end(span) - replay.start(span))];
  const verdicts = replay.horizons.map((secs, lane) => twin(shown, `verdict-${lane}`, lane === 0 ? 'The verdict' : `What if ${short_horizon(secs)}`, ['Verdict'],
    replay.verdicts[lane], (span) => [...times(span), verdict_words(replay, span)]));
  return h('section', { key: 'tables', class: 'past-tables', 'aria-label': 'Tables' }, ...verdicts,
    replay.horizons.length > 1 && twin(shown, 'differences', 'Where they differ', ['Because of'], replay.differences, (span) => [...times(span), blamed(replay, span)]),
    twin(shown, 'instances', 'The instances shown', ['Instance', 'Standing', 'Serving'],
      lanes_shown(shown, replay).flatMap((number) => replay.standings[0][number].map((span) => ({ number, span }))),
      ({ number, span }) => [...times(span), visible(replay.names[number]), PAST_WORDS[replay.word(span)], short_sha(visible(replay.sha(span) ?? '-'))]));
}

/**
 * @template Row
 * @param {Shown} shown @param {string} name @param {string} title @param {string[]} columns @param {Row[]} rows @param {(row: Row) => string[]} cells
 */
function twin(shown, name, title, columns, rows, cells) {
  const first = shown.tables[name];
  const last = Math.min(rows.length, (first ?? 0) + ROWS);
  return lazy(name, [shown.replay, first, shown.all], () => h('details', { class: 'past-table', open: first !== undefined, on: { toggle: ['past', 'table', name] } },
    h('summary', null, `${title} as a table: ${plural(rows.length, 'row')}`),
    first !== undefined && h('div', { class: 'past-scroll', tabindex: 0, role: 'region', 'aria-label': `${title} as a table` }, h('table', null,
      h('thead', null, h('tr', null, ...['From', 'To', 'For', ...columns].map((column) => h('th', { scope: 'col' }, column)))),
      h('tbody', null, ...rows.slice(first, last).map((row) => h('tr', null, ...cells(row).map((cell) => h('td', null, cell))))))),
    first !== undefined && rows.length > ROWS && h('div', { class: 'paging' },
      h('button', { type: 'button', disabled: first === 0, on: { click: ['past', 'page', [name, Math.max(0, first - ROWS)]] } }, 'Earlier rows'),
      `${(first + 1).toLocaleString('en')} to ${last.toLocaleString('en')} of ${rows.length.toLocaleString('en')}`,
      h('button', { type: 'button', disabled: last === rows.length, on: { click: ['past', 'page', [name, last]] } }, 'Later rows'))));
}
