// The Rehearsal view.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */

import { h } from './dom.js';

/** @param {Host} _host @returns {LaterView} */
export function open(_host) {
  return {
    draw: () => [h('section', { key: 'rehearsal', class: 'past', 'aria-label': 'Rehearsal' }, h('h2', null, 'Rehearsal'))],
    act() {},
    open_file() {},
    came() {},
  };
}
