// The words of the History view, and moments as people write them. Pure, but for the zone of the place.

/** @typedef {import('../types/page').PastWord} PastWord */
/** @typedef {import('../types/page').Replay} Replay */

import { zone_minutes } from './clock.js';
import { STANDING_WORDS, moment, plural, visible, zone_name } from './words.js';

const NAMED = 6;

/** @type {Record<PastWord, string>} */
export const PAST_WORDS = {
  ...STANDING_WORDS,
  ready: 'Ready',
  nothing_serving: 'Not ready',
  not_watching: 'Not watched',
};

/** What was said in a span of the verdict. @param {Replay} replay @param {number|undefined} span */
export function verdict_words(replay, span) {
  if (span === undefined) return PAST_WORDS.not_watching;
  const word = replay.word(span);
  if (word === 'live_degraded') return `Not ready: ${blamed(replay, span)}`;
  if (word !== 'nothing_serving') return PAST_WORDS[word];
  const names = blamed(replay, span);
  return `Not ready: nothing served${names === '' ? '' : `; degraded: ${names}`}`;
}

/** @param {Replay} replay @param {number} span */
export function blamed(replay, span) {
  const { names, more } = replay.blame(span);
  const rest = names.length - NAMED;
  return names.slice(0, NAMED).map(visible).join(', ') + (rest > 0 || more > 0 ? ` and ${plural(Math.max(rest, 0) + more, 'other')}` : '');
}

/** @param {number} unix @param {boolean} [zoned] with the zone of that moment there */
export function when(unix, zoned = true) {
  const zone = zone_minutes(unix);
  return moment(unix, NaN, zone, true) + (zoned ? ` ${zone_name(zone)}` : '');
}

/** A length, exactly: `1 d 2 h`, `4 m 12 s`, `0`. @param {number} secs */
export function length(secs) {
  const parts = /** @type {[number, string][]} */ ([[Math.floor(secs / 86_400), 'd'], [Math.floor(secs / 3600) % 24, 'h'], [Math.floor(secs / 60) % 60, 'm'], [secs % 60, 's']]);
  return parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`).join(' ') || '0';
}

/**
 * Unix seconds, RFC 3339, a date with or without a time, or a time of today; where no zone is written, that of the
 * place. null: none of these, or before 1970.
 * @param {string} text @param {number} now
 */
export function read_moment(text, now) {
  const written = text.trim().replace(/\s*UTC([+−-]\d+)?$/, '');
  if (/^\d{5,15}$/.test(written)) return Number(written);
  const today = moment(now, NaN, zone_minutes(now)).slice(0, 10);
  const iso = (/^\d{1,2}:/.test(written) ? `${today}T${written.padStart(5, '0')}` : written).replace(' ', 'T');
  if (!/^\d{4}-\d\d-\d\d(T|$)/.test(iso)) return null;
  // A date alone would be read as one of UTC.
  const unix = Math.floor(Date.parse(iso.includes('T') ? iso : `${iso}T00:00`) / 1000);
  return unix >= 0 ? unix : null;
}

/** A moment as an address has it. @param {number} unix */
export function iso(unix) {
  const date = new Date(unix * 1000);
  return Number.isNaN(date.getTime()) ? String(unix) : date.toISOString().replace('.000', '');
}
