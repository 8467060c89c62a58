// What each action makes of the view. Pure: the effects that go with it are main.js's.

/** @typedef {import('../types/page').State} State */

import { secs_of_step } from './view-horizon.js';
import { short_horizon } from './words.js';

/** Actions that are steps of one movement: the address is replaced, and its history grows only when it ends. */
const MOVING = new Set(['slide', 'filter']);
/** Actions after which the rows stand where they should, whatever holds them. */
const SORTING = new Set(['filter', 'filtered', 'standing', 'sort', 'resort', 'unfilter', 'slide', 'slid', 'horizon', 'exit', 'field-done', 'moment', 'moment-after']);

/** @param {unknown[]} action @returns {'replace'|'push'} */
export function history_step(action) {
  return MOVING.has(String(action[0])) ? 'replace' : 'push';
}

/** @param {unknown[]} action */
export function sorts_again(action) {
  return SORTING.has(String(action[0]));
}

/**
 * @param {State} state
 * @param {unknown[]} action its name, then what it needs
 * @param {string} text what stands in the field that was used
 * @param {(text: string) => import('../types/page').StaleAfter} read the rules' own reader of horizons; undefined: it is none
 * @returns {State}
 */
export function update(state, [name, value], text, read) {
  const { view } = state;
  const daemon = state.board?.app.readiness.stale_after_secs;
  /** @param {Partial<typeof view>} change @returns {State} */
  const seen = (change) => ({ ...state, page: 0, view: { ...view, ...change } });
  /** @param {number|null} secs */
  const under = (secs) => ({ ...seen({ stale_after: secs === daemon ? '' : short_horizon(secs) }), field: null, bad_field: false, page: state.page });
  switch (name) {
    case 'pause':
      return { ...state, paused: !state.paused };
    case 'help':
      return { ...state, help: value === true };
    case 'horizon':
      return under(/** @type {number|null} */ (value));
    case 'slide':
    case 'slid':
      return under(secs_of_step(Number(text)));
    case 'field':
      return { ...state, field: text, bad_field: false };
    case 'field-done': {
      if (state.field === null) return state;
      const secs = read(state.field);
      return secs === undefined ? { ...state, bad_field: true } : under(secs);
    }
    case 'exit':
      return { ...seen({ stale_after: '' }), field: null, bad_field: false, page: state.page };
    case 'escape':
      return state.help ? { ...state, help: false } : update(state, ['exit'], '', read);
    case 'filter':
    case 'filtered':
      return seen({ q: text });
    case 'standing':
      return seen({ standing: /** @type {typeof view.standing} */ (value) });
    case 'unfilter':
      return seen({ q: '', standing: '' });
    case 'sort': {
      const sort = /** @type {typeof view.sort} */ (value);
      return seen({ sort, down: sort === view.sort && !view.down });
    }
    case 'open':
      return { ...state, view: { ...view, open: String(value) } };
    case 'page':
      return { ...state, page: Number(value) };
    case 'moment':
      return { ...state, view: { ...view, at: /** @type {number|null} */ (value) } };
    case 'moment-after': {
      const after = read(text);
      const taken = state.board?.app.now_unix ?? 0;
      return typeof after === 'number' ? { ...state, view: { ...view, at: taken + after } } : state;
    }
    default:
      return state;
  }
}
