// Whether this page may be believed, from what it heard and when. Pure; times are the browser's own milliseconds.

/** @typedef {import('../types/page').Line} Line */
/** @typedef {import('../types/page').Phase} Phase */

/** Three beats: beyond that, what is shown is the past. */
export const SILENCE_MS = 15_000;
/** How long a tab that woke may say that it is checking. */
const CHECKING_MS = 2000;
/** The first error, and two reconnects that failed. */
const FAILURES_TO_UNKNOWN = 3;

/** @returns {Line} */
export function new_line() {
  return { heard_ms: null, checking_ms: null, failures: 0, asleep: false, opened: false };
}

/** @param {Line} line @param {number} now_ms @returns {Line} */
export function heard(line, now_ms) {
  return { heard_ms: now_ms, checking_ms: null, failures: 0, asleep: false, opened: true };
}

/** @param {Line} line @param {number} now_ms @returns {Line} */
export function doubted(line, now_ms) {
  return { ...line, asleep: false, failures: 0, checking_ms: now_ms };
}

/** @param {Line} line @returns {Line} */
export function failed(line) {
  return { ...line, failures: line.failures + 1 };
}

/** @param {Line} line @param {number} now_ms @returns {Phase} */
export function phase(line, now_ms) {
  if (line.asleep) return 'asleep';
  if (line.checking_ms !== null && now_ms - line.checking_ms < CHECKING_MS) return 'checking';
  if (line.failures >= FAILURES_TO_UNKNOWN) return 'unknown';
  if (line.heard_ms === null) return line.failures > 0 ? 'reconnecting' : 'starting';
  if (now_ms - line.heard_ms >= SILENCE_MS) return 'unknown';
  return line.failures > 0 ? 'reconnecting' : 'live';
}

/** Whether what the page shows is the present. @param {Phase} phase */
export function is_known(phase) {
  return phase === 'live' || phase === 'reconnecting' || phase === 'saved';
}
