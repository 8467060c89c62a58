// Windows as people and addresses write them, and what they come to within a file. Pure.

/** @typedef {import('../types/page').HistoryHead} HistoryHead */
/** @typedef {import('../types/page').Host} Host */
/** @typedef {{from: string, to: string}} Range each `-24h`, or a moment; '' is the end that the source has there */

import { iso, read_moment, when } from './history-words.js';
import { visible } from './words.js';

/** What is asked of a daemon when nothing is said. */
export const WINDOW = '-24h';

/**
 * What somebody wrote, as an address has it; null: no moment.
 * @param {Host} host @param {string} text @param {string} or what an empty field is @param {number} now the moment at which `now` is
 */
export function moment_of(host, text, or, now) {
  if (text === '' || text === 'now') return or;
  if (/^[-−]/.test(text)) return typeof host.read_horizon(text.slice(1)) === 'number' ? `-${text.slice(1)}` : null;
  const unix = read_moment(text, now);
  return unix === null ? null : iso(unix);
}

/**
 * The part of a file that a range asks for, a span of time being that before its end; or why there is none.
 * @param {Host} host @param {HistoryHead} head @param {string} name @param {Range} range
 */
export function part_of(host, { from_unix, to_unix }, name, { from, to }) {
  const whole = { from: from_unix, to: to_unix };
  if (from === '' && to === '') return whole;
  const [first, last] = [[from, from_unix], [to, to_unix]].map(([text, or]) => moment_in(host, String(text), Number(or), to_unix));
  if (first === null || last === null) return 'This window cannot be read';
  if (first >= last) return 'This window ends before it begins: exchange the two';
  const part = { from: Math.max(first, from_unix), to: Math.min(last, to_unix) };
  return part.from < part.to ? part : `Nothing of this window is in ${visible(name)}, which goes from ${when(from_unix)} to ${when(to_unix)}`;
}

/** @param {Host} host @param {string} text @param {number} or what an empty text is @param {number} end */
function moment_in(host, text, or, end) {
  if (text === '') return or;
  if (!text.startsWith('-')) return read_moment(text, end);
  const secs = host.read_horizon(text.slice(1));
  return typeof secs === 'number' ? end - secs : null;
}
