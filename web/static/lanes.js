// Lanes over one axis of time: painted by columns of the picture, so that a week of a hundred thousand spans costs what
// an hour of ten does. Looks are told apart by their shapes, and only then by their colours. Pure.

/** @typedef {import('../types/page').Painter} Painter */
/** @typedef {import('./dom.js').VNode} VNode */
/** @typedef {{name: string, top: number, bottom: number}} Look a thin one, of no height, is a line */

import { zone_minutes } from './clock.js';
import { h } from './dom.js';

/** So many columns, however wide the picture is. */
export const COLUMNS = 1000;
const HEIGHT = 24;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 28 * DAY, 91 * DAY, 365 * DAY];
const MOST_TICKS = 8;

/**
 * A lane. Where several spans share a column, the look that stands last in the list is seen: a short outage in a long
 * window does not vanish.
 * @param {Painter} paint @param {number} from @param {number} to @param {Look[]} looks @param {string} [more] its class
 */
export function lane(paint, from, to, looks, more = '') {
  const columns = new Uint8Array(COLUMNS);
  const scale = COLUMNS / Math.max(1, to - from);
  paint((start, end, look) => {
    const last = Math.min(COLUMNS, Math.ceil((end - from) * scale));
    for (let at = Math.min(last - 1, Math.floor((start - from) * scale)); at < last; at++) if (columns[at] <= look) columns[at] = look + 1;
  });
  const paths = looks.map(() => '');
  for (let at = 0, next = 0; at < COLUMNS; at = next) {
    for (next = at; next < COLUMNS && columns[next] === columns[at];) next++;
    if (columns[at] === 0) continue;
    const { top, bottom } = looks[columns[at] - 1];
    paths[columns[at] - 1] += top === bottom ? `M${at} ${top}H${next}` : `M${at} ${top}H${next}V${bottom}H${at}z`;
  }
  return h('svg', { class: `lane ${more}`, viewBox: `0 0 ${COLUMNS} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    ...looks.map(({ name }, at) => paths[at] !== '' && h('path', { class: `look look-${name}`, d: paths[at] })));
}

/** Where a moment stands, as a share of the picture. @param {number} moment @param {number} from @param {number} to */
export function place(moment, from, to) {
  return { '--at': `${(100 * (moment - from)) / Math.max(1, to - from)}%` };
}

/**
 * The moments that are named below the lanes, at full hours and days of where the reader is.
 * @param {number} from @param {number} to
 */
export function ticks(from, to) {
  const step = STEPS.find((secs) => (to - from) / secs <= MOST_TICKS) ?? to - from;
  /** @param {number} moment */
  const local = (moment) => moment + zone_minutes(moment) * MINUTE;
  const list = [];
  for (let at = Math.ceil(local(from) / step) * step; list.length <= MOST_TICKS; at += step) {
    // Days are not all of one length.
    const moment = at - (local(at - zone_minutes(from) * MINUTE) - (at - zone_minutes(from) * MINUTE));
    if (moment >= to) break;
    if (moment >= from) list.push(moment);
  }
  return { list, whole_days: step >= DAY };
}

/** How far along the slider that it is over a pointer is, from 0 to 1. @param {Event|undefined} event */
export function share(event) {
  const at = event?.target instanceof Element ? event.target.closest('[role=slider]') : null;
  if (!(event instanceof MouseEvent) || !at) return null;
  const { left, width } = at.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, width)));
}
