// The instances: filter, sort and pages. Worst first is the policy's order; the other orders are only alphabets and ages.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('../types/page').Row} Row */
/** @typedef {import('../types/page').Judged} Judged */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {import('../types/page').SortKey} SortKey */
/** @typedef {import('./board.js').Board} Board */
/** @typedef {import('./dom.js').VNode} VNode */

import { is_known } from './alive.js';
import { h } from './dom.js';
import { icon } from './icons.js';
import { count } from './sayings.js';
import { row_nodes } from './view-row.js';
import { STANDING_WORDS, plural, zone_name } from './words.js';

/** Enough for every real board; more would make each second's work felt on a phone. */
export const PAGE_ROWS = 200;

/** What the last arrangement was made of, and the names. @type {{of: unknown[], names: string[]}} */
let last = { of: [], names: [] };

/** Names that pass the filter, in the order asked for: the same list while nothing changed. @param {State} state @returns {string[]} */
export function arranged(state) {
  const { board, view } = state;
  const judged = shown_judgement(state);
  if (!board || !judged) return [];
  const of = [board, judged.order, view.q, view.standing, view.sort, view.down];
  if (of.some((part, i) => part !== last.of[i])) last = { of, names: arranged_anew(board, judged, view) };
  return last.names;
}

/** @param {Board} board @param {Judged} judged @param {State['view']} view */
function arranged_anew(board, judged, view) {
  const wanted = view.q.trim().toLowerCase();
  /** @type {number[]} */
  const found = [];
  for (let i = 0; i < judged.order.length; i++) {
    const at = judged.order[i];
    if (view.standing !== '' && judged.standing(at) !== view.standing) continue;
    if (wanted !== '' && !haystack(board.rows[at]).includes(wanted)) continue;
    found.push(at);
  }
  if (view.sort !== 'worst') found.sort(comparison(board, judged, view.sort));
  if (view.down) found.reverse();
  return found.map((at) => board.rows[at].name);
}

/** @param {State} state @returns {Judged|null} */
export function shown_judgement(state) {
  return state.what_if ?? state.judged;
}

/** @type {WeakMap<Row, string>} */
const haystacks = new WeakMap();

/** @param {Row} row */
function haystack(row) {
  const known = haystacks.get(row);
  if (known !== undefined) return known;
  const text = [row.name, row.phase, row.serving_sha, row.last_green, row.last_red_sha, row.last_red_reason, row.pending_sha, row.source]
    .filter((part) => part !== null).join('\n').toLowerCase();
  haystacks.set(row, text);
  return text;
}

/** @param {Board} board @param {Judged} judged @param {SortKey} key @returns {(a: number, b: number) => number} */
function comparison(board, judged, key) {
  const { rows } = board;
  switch (key) {
    case 'name':
      return (a, b) => alphabet(rows[a].name, rows[b].name);
    case 'phase':
      return (a, b) => alphabet(rows[a].phase, rows[b].phase);
    case 'changed':
      return (a, b) => rows[b].last_change_unix - rows[a].last_change_unix;
    case 'ages_out':
      return (a, b) => (judged.ages_out(a) ?? Infinity) - (judged.ages_out(b) ?? Infinity) || 0;
    case 'worst':
      return () => 0;
  }
}

/** Not by locale: a link must show the same order to everybody. @param {string} a @param {string} b */
function alphabet(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** @param {State} state @param {Time} time */
export function table(state, time) {
  const judged = shown_judgement(state);
  if (!state.board || !judged) return h('section', { key: 'table', class: 'instances' });
  const pages = Math.max(1, Math.ceil(state.shown.length / PAGE_ROWS));
  const page = Math.min(state.page, pages - 1);
  const names = state.shown.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS);
  const frozen = !is_known(state.phase);
  return h('section', { key: 'table', class: frozen ? 'instances frozen' : 'instances', 'aria-label': 'Instances' },
    toolbar(state, judged),
    h('div', { class: 'moved', key: null }, state.moved > 0 && h('button', { type: 'button', on: { click: ['resort'] } }, `${plural(state.moved, 'row')} moved: sort again`)),
    state.shown.length === 0 ? empty(state) : h('table', { role: 'table', 'aria-label': 'Instances', id: 'instances' },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...columns(state, time))),
      h('tbody', { role: 'rowgroup' }, ...names.flatMap((name) => row_nodes(state, judged, name, time)))),
    pages > 1 && paging(page, pages, state.shown.length),
  );
}

/** @param {State} state @param {Judged} judged */
function toolbar(state, judged) {
  const total = state.board?.rows.length ?? 0;
  const counts = count(judged, total);
  const chips = /** @type {Standing[]} */ (Object.keys(STANDING_WORDS)).filter((standing) => counts[standing] > 0 || state.view.standing === standing);
  return h('div', { class: 'toolbar' },
    h('input', { type: 'search', id: 'filter', class: 'field', 'aria-label': 'Filter', placeholder: 'Filter by name, sha, reason, source', value: state.view.q, autocomplete: 'off', spellcheck: 'false', on: { input: ['filter'], change: ['filtered'] } }),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'Standings' },
      h('button', { type: 'button', class: 'chip', 'aria-pressed': String(state.view.standing === ''), on: { click: ['standing', ''] } }, 'All ', h('b', null, String(total))),
      ...chips.map((standing) => h('button', { type: 'button', class: `chip is-${standing}`, 'aria-pressed': String(state.view.standing === standing), on: { click: ['standing', standing] } },
        icon(standing), `${STANDING_WORDS[standing]} `, h('b', null, String(counts[standing]))))),
  );
}

/** @param {State} state @param {Time} time */
function columns(state, time) {
  return [
    column(state, 'name', 'Instance'),
    column(state, 'worst', 'Standing'),
    column(state, 'phase', 'Phase'),
    column(state, null, 'Serving'),
    column(state, null, 'Last green'),
    column(state, null, 'Last red'),
    column(state, 'changed', 'Unchanged'),
    column(state, 'ages_out', `Ages out ${zone_name(time.zone)}`),
  ];
}

/** @param {State} state @param {SortKey|null} key @param {string} name */
function column(state, key, name) {
  if (key === null) return h('th', { role: 'columnheader', scope: 'col' }, name);
  const sorted = state.view.sort === key;
  const direction = sorted ? (state.view.down ? 'descending' : 'ascending') : 'none';
  const hint = key === 'worst' ? 'Worst first' : `Sort by ${name.toLowerCase()}`;
  return h('th', { role: 'columnheader', scope: 'col', 'aria-sort': direction },
    h('button', { type: 'button', class: 'sort', title: hint, on: { click: ['sort', key] } }, name, h('span', { class: 'sort-mark', 'aria-hidden': 'true' }, sorted ? (state.view.down ? '↑' : '↓') : '')));
}

/** @param {State} state */
function empty(state) {
  const none = state.board?.rows.length === 0;
  return h('p', { class: 'empty' }, none ? 'No instances yet. They appear here with their first report.' : 'No instance matches. ',
    !none && h('button', { type: 'button', on: { click: ['unfilter'] } }, 'Show all'));
}

/** @param {number} page @param {number} pages @param {number} rows */
function paging(page, pages, rows) {
  return h('nav', { class: 'paging', 'aria-label': 'Pages' },
    h('button', { type: 'button', disabled: page === 0, on: { click: ['page', page - 1] } }, 'Previous'),
    h('span', null, `Rows ${page * PAGE_ROWS + 1} to ${Math.min(rows, (page + 1) * PAGE_ROWS)} of ${rows.toLocaleString('en')}`),
    h('button', { type: 'button', disabled: page >= pages - 1, on: { click: ['page', page + 1] } }, 'Next'));
}
