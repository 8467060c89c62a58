// The History view.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */

import { h } from './dom.js';

/** @param {Host} _host @returns {LaterView} */
export function open(_host) {
  return {
    draw: () => [h('section', { key: 'history', class: 'past', 'aria-label': 'History' }, h('h2', null, 'History'))],
    act() {},
    open_file() {},
    came() {},
  };
}
