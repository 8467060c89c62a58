// The view as the address carries it, and back. Pure.

/** @typedef {import('../types/page').View} View */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {import('../types/page').SortKey} SortKey */
/** @typedef {import('../types/page').ViewName} ViewName */

import { STANDING_WORDS } from './words.js';

/** @type {ViewName[]} */
export const VIEWS = ['live', 'history', 'rehearsal'];
const SORT_KEYS = ['worst', 'name', 'phase', 'changed', 'ages_out'];

/** @returns {View} */
export function plain_view() {
  return { view: 'live', stale_after: '', q: '', standing: '', sort: 'worst', down: false, open: '', at: null };
}

/**
 * What cannot be read is left at its default: a link from a newer page opens as far as it is understood.
 * @param {string} search
 * @returns {View}
 */
export function read_address(search) {
  const query = new URLSearchParams(search);
  const sort = query.get('sort') ?? 'worst';
  const standing = query.get('standing') ?? '';
  const at = query.get('at') ?? '';
  const view = VIEWS.find((name) => name === query.get('view')) ?? 'live';
  // The other views read the rest themselves.
  if (view !== 'live') return { ...plain_view(), view };
  return {
    view,
    stale_after: query.get('stale_after') ?? '',
    q: query.get('q') ?? '',
    standing: standing in STANDING_WORDS ? /** @type {Standing} */ (standing) : '',
    sort: SORT_KEYS.includes(sort) ? /** @type {SortKey} */ (sort) : 'worst',
    down: query.get('down') === '1',
    open: query.get('open') ?? '',
    at: /^\d{1,15}$/.test(at) ? Number(at) : null,
  };
}

/**
 * The query of a view, without what is at its default. What the page does not know, it keeps (`daemon`).
 * @param {View} view @param {string} search the query that is there now
 */
export function write_address(view, search) {
  const query = new URLSearchParams(search);
  const values = {
    view: view.view === 'live' ? '' : view.view,
    stale_after: view.stale_after,
    q: view.q,
    standing: view.standing,
    sort: view.sort === 'worst' ? '' : view.sort,
    down: view.down ? '1' : '',
    open: view.open,
    at: view.at === null ? '' : String(view.at),
  };
  return written(query, values);
}

/** What of the query belongs to the view that is open. @param {string} search */
export function own_query(search) {
  const query = new URLSearchParams(search);
  for (const name of SHELL) query.delete(name);
  return query;
}

/** The query with these values as the view's own, and no others. @param {string} search @param {Record<string, string>} values */
export function with_query(search, values) {
  const query = new URLSearchParams(search);
  for (const name of own_query(search).keys()) query.delete(name);
  return written(query, values);
}

/** What stays while a view changes what it shows. */
const SHELL = ['daemon', 'view'];

/** @param {URLSearchParams} query @param {Record<string, string>} values */
function written(query, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
