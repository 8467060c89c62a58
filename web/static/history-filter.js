// Which instances of a replay the filter lets through, and which of those have a lane. Pure.

/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {{q: string, standing: Standing|'', all: boolean}} Wanted a part of their names; how they stood at some moment; whether all that can have a lane */

import { nth } from './history-replay.js';
import { STANDING_WORDS } from './words.js';

/** So many instances have a lane before anybody asks for more, and so many at most. */
const FEW = 12;
const MANY = 200;
export const STANDINGS = /** @type {Standing[]} */ (Object.keys(STANDING_WORDS));

/** What was asked last of a replay: the same lists while nothing changed. @type {WeakMap<Replay, {asked: string, found: number[], lanes: number[]}>} */
const last = new WeakMap();
/** @type {WeakMap<Replay, Record<Standing, Set<number>>>} */
const known = new WeakMap();

/** Numbers of those who stood so at some moment, under any horizon that is shown. @param {Replay} of @returns {Record<Standing, Set<number>>} */
export function stood(of) {
  const before = known.get(of);
  if (before) return before;
  const sets = of.words.map(() => /** @type {Set<number>} */ (new Set()));
  for (const { standings } of of.lanes) {
    standings.forEach((spans, number) => {
      for (let at = 0; at < spans.length; at++) sets[of.what(nth(spans, at))].add(number);
    });
  }
  const who = /** @type {Record<Standing, Set<number>>} */ (Object.fromEntries(STANDINGS.map((standing) => [standing, sets[of.words.indexOf(standing)]])));
  known.set(of, who);
  return who;
}

/** @param {Wanted} wanted @param {Replay} of */
function filtered({ q, standing, all }, of) {
  const text = q.trim().toLowerCase();
  const asked = `${all} ${standing} ${text}`;
  const before = last.get(of);
  if (before?.asked === asked) return before;
  const found = of.order.filter((number) => of.names[number].toLowerCase().includes(text) && (standing === '' || stood(of)[standing].has(number)));
  const now = { asked, found, lanes: found.slice(0, all ? MANY : FEW) };
  last.set(of, now);
  return now;
}

/** Numbers of the instances that the filter lets through, worst first. @param {Wanted} wanted @param {Replay} of */
export function found(wanted, of) {
  return filtered(wanted, of).found;
}

/** Numbers of those that have a lane. @param {Wanted} wanted @param {Replay} of */
export function lanes_shown(wanted, of) {
  return filtered(wanted, of).lanes;
}
