// Pictures of a standing and of a verdict: told apart by shape alone, and drawn in the text's colour, which is what
// survives forced colours.

/** @typedef {import('./dom.js').VNode} VNode */

import { h } from './dom.js';

/** @type {Record<string, VNode[]>} */
const SHAPES = {
  serving: [h('circle', { cx: 8, cy: 8, r: 7, fill: 'currentColor' }), stroke('M4.8 8.2 7 10.4 11.2 5.8', 'knock')],
  live_degraded: [h('path', { d: 'M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1z', fill: 'currentColor' }), stroke('M8 4.4v4.4M8 11.2v.4', 'knock')],
  stale_degraded: [h('circle', { cx: 8, cy: 8, r: 6.2, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.6, 'stroke-dasharray': '2.6 2.2' }), stroke('M8 4.8V8l2.2 1.6')],
  never_green: [h('circle', { cx: 8, cy: 8, r: 6.2, fill: 'none', stroke: 'currentColor', 'stroke-width': 1.6 })],
  ready: [stroke('M3 8.6 6.4 12 13 4.6', '', 2.2)],
  not_ready: [stroke('M3.8 3.8l8.4 8.4M12.2 3.8l-8.4 8.4', '', 2.2)],
  unknown: [stroke('M5.2 5.6a2.8 2.8 0 1 1 4.2 2.5C8.5 8.7 8 9.2 8 10.2', '', 1.9), stroke('M8 13v.1', '', 2.4)],
  chevron: [stroke('M6 3.5 10.5 8 6 12.5')],
};

/** @param {string} name */
export function icon(name) {
  return h('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true', class: `icon icon-${name}` }, ...(SHAPES[name] ?? []).map(copy));
}

/** A node may stand in the document once only. @param {VNode} node @returns {VNode} */
function copy(node) {
  return { ...node, made: null };
}

/** @param {string} d @param {string} [look] @param {number} [width] */
function stroke(d, look = '', width = 1.6) {
  return h('path', { d, class: look, fill: 'none', stroke: look === '' ? 'currentColor' : undefined, 'stroke-width': width, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' });
}

const FAVICONS = { ready: ['%230e7a44', 'M9 17l5 5 10-11'], not_ready: ['%23b3261e', 'M10 10l12 12M22 10L10 22'], unknown: ['%235b6470', 'M12 12a4 4 0 1 1 6 3.5c-1.5.9-2 1.7-2 3M16 23v.2'] };

/** The picture for the tab; data, because a daemon that is gone cannot be asked for one. @param {'ready'|'not_ready'|'unknown'} word */
export function favicon(word) {
  const [colour, path] = FAVICONS[word];
  const shape = word === 'not_ready' ? '%3Cpath d="M10 1h12l9 9v12l-9 9H10l-9-9V10z"/%3E' : '%3Ccircle cx="16" cy="16" r="15"/%3E';
  return `data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="${colour}"%3E${shape}%3Cpath d="${path}" fill="none" stroke="white" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round"/%3E%3C/svg%3E`;
}
