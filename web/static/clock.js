// The only reader of the clock. Time here is the daemon's: the browser's, corrected by the skew measured from
// `now_unix_ms`, so that a laptop that is an hour off judges as the daemon does.

/** Beats take time to arrive, so each measure is a little low: the highest of the last few is the nearest. */
const MEASURES_KEPT = 6;
/** A measure this far from the best one is not a slow beat but a clock that was set. */
const STEP_MS = 2000;

/** @type {number[]} */
let measures = [];

/** The browser's own clock, in Unix milliseconds. Ages of what this page did itself are measured with it. */
export function local_ms() {
  return Date.now();
}

/** The daemon's clock as well as it is known here, in Unix milliseconds. */
export function now_ms() {
  return Date.now() + skew_ms();
}

/** How far the daemon's clock is ahead of this browser's; 0 while nothing was measured. */
export function skew_ms() {
  return measures.length === 0 ? 0 : Math.max(...measures);
}

/** Learns from a time that the daemon has just said. @param {number} daemon_ms */
export function measure(daemon_ms) {
  const skew = daemon_ms - Date.now();
  if (measures.some((other) => Math.abs(other - skew) > STEP_MS)) measures = [];
  measures = [...measures, skew].slice(-MEASURES_KEPT);
}

/** The minutes by which local time is ahead of UTC at that moment. @param {number} unix */
export function zone_minutes(unix) {
  return -new Date(unix * 1000).getTimezoneOffset();
}

/**
 * Calls `tick` at every whole second of the daemon's clock, and says whether time jumped since the last call, which is
 * how a machine that slept is noticed.
 * @param {(jumped: boolean) => void} tick
 */
export function every_second(tick) {
  let last = Date.now();
  const again = () => {
    const wait = 1000 - (now_ms() % 1000);
    setTimeout(() => {
      const jumped = Math.abs(Date.now() - last) > JUMP_MS;
      last = Date.now();
      tick(jumped);
      again();
    }, wait + LATE_MS);
  };
  again();
}

/** Timers of hidden tabs fire once a minute at worst; a gap beyond that is sleep. */
const JUMP_MS = 70_000;
/** Lands just after the second rather than, rounded, just before it. */
const LATE_MS = 2;

/** @param {number} ms @param {() => void} then */
export function later(ms, then) {
  setTimeout(then, ms);
}
