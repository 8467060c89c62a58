// Numbers and names as people read them. Pure: the zone comes in as minutes ahead of UTC.

/** @typedef {import('../types/page').Standing} Standing */

/** @type {Record<Standing, string>} */
export const STANDING_WORDS = {
  live_degraded: 'Live degraded',
  serving: 'Serving',
  stale_degraded: 'Stale degraded',
  never_green: 'Never green',
};

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** An age or a wait in its largest whole unit: `19 m`, `41 d`. @param {number} secs */
export function age(secs) {
  const whole = Math.max(0, Math.floor(secs));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} m`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h`;
  return `${Math.floor(whole / DAY)} d`;
}

/** For how many more seconds `age` says the same. @param {number} secs */
export function age_holds(secs) {
  const whole = Math.max(0, Math.floor(secs));
  const unit = whole < MINUTE ? 1 : whole < HOUR ? MINUTE : whole < 2 * DAY ? HOUR : DAY;
  return unit - (whole % unit);
}

/** The day at that moment there, as a number. @param {number} unix @param {number} zone */
export function day_number(unix, zone) {
  return Math.floor((unix + zone * MINUTE) / DAY);
}

/** The same in full words, for headings and for screen readers. @param {number} secs */
export function spoken(secs) {
  const whole = Math.max(0, Math.floor(secs));
  if (whole < MINUTE) return plural(whole, 'second');
  if (whole < HOUR) return plural(Math.floor(whole / MINUTE), 'minute');
  if (whole < 2 * DAY) return plural(Math.floor(whole / HOUR), 'hour');
  return plural(Math.floor(whole / DAY), 'day');
}

/** A countdown: exact to the second in its last minutes, when people watch it. @param {number} secs */
export function countdown(secs) {
  const whole = Math.max(0, Math.floor(secs));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < 10 * MINUTE) return `${Math.floor(whole / MINUTE)} m ${String(whole % MINUTE).padStart(2, '0')} s`;
  if (whole < 10 * HOUR && whole >= HOUR) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} m`;
  return age(whole);
}

/** @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A horizon in the form that links and fields take: `15m`, `1h30m`, `never`. @param {number|null} secs */
export function short_horizon(secs) {
  if (secs === null) return 'never';
  let left = secs;
  let text = '';
  for (const [unit, size] of /** @type {[string, number][]} */ ([['d', DAY], ['h', HOUR], ['m', MINUTE], ['s', 1]])) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text || '0s';
}

/** @param {number|null} secs */
export function spoken_horizon(secs) {
  if (secs === null) return 'never';
  for (const [noun, size] of /** @type {[string, number][]} */ ([['day', DAY], ['hour', HOUR], ['minute', MINUTE]])) {
    if (secs >= size && secs % size === 0) return plural(secs / size, noun);
  }
  return short_horizon(secs);
}

/** `UTC+2`, `UTC+5:30`, `UTC`. @param {number} zone */
export function zone_name(zone) {
  const ahead = Math.abs(zone);
  const minutes = ahead % 60 === 0 ? '' : `:${String(ahead % 60).padStart(2, '0')}`;
  return zone === 0 ? 'UTC' : `UTC${zone < 0 ? '−' : '+'}${Math.floor(ahead / 60)}${minutes}`;
}

/**
 * A moment as `14:32`, with the date in front when it is not the day of `now`.
 * @param {number} unix @param {number} now @param {number} zone @param {boolean} [seconds]
 */
export function moment(unix, now, zone, seconds) {
  const iso = local_iso(unix, zone);
  if (iso === '') return 'out of range';
  const day = iso.slice(0, 10);
  const time = iso.slice(11, seconds ? 19 : 16);
  return day === local_iso(now, zone).slice(0, 10) ? time : `${day} ${time}`;
}

/** @param {number} unix @param {number} zone */
function local_iso(unix, zone) {
  const date = new Date((unix + zone * MINUTE) * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/** The first characters of a sha, as git prints it; anything else as it is. @param {string} sha */
export function short_sha(sha) {
  return /^[0-9a-f]{12,64}$/.test(sha) ? sha.slice(0, 9) : sha;
}

/**
 * Text of a source with what would turn, hide or break the text around it shown as a mark: bidi controls, zero-width
 * and other format characters, line ends and control characters. Joiners stay: they make emoji and scripts readable.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu, mark);
}

/** @param {string} character */
function mark(character) {
  if (character === '\n' || character === '\r') return ' ⏎ ';
  if (character === '\t') return ' ';
  return `‹U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** The start of a long text, cut between characters. @param {string} text @param {number} length */
export function clipped(text, length) {
  if (text.length <= length) return text;
  const cut = text.slice(0, length).replace(/[\ud800-\udbff]$/u, '');
  return `${cut}…`;
}
