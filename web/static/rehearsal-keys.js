// What a key makes of the cursor of the Rehearsal view. Pure.

/** @typedef {import('../types/rehearsal').Known} Known */

/** An arrow goes so far, of what is shown; with Shift ten times as far. */
const STEP = 1 / 250;
/** What the pages stop at, beside the misses. */
const EVENTS = ['move', 'sigterm', 'exited', 'started', 'killed'];

/** Where the cursor goes; null: nowhere. @param {KeyboardEvent} event @param {Pick<Known, 'misses'|'by'|'from_us'|'to_us'>} record @param {number} at where it is @param {number} wide so many microseconds are shown */
export function keyed(event, record, at, wide) {
  const step = wide * STEP * (event.shiftKey ? 10 : 1);
  switch (event.key) {
    case 'ArrowLeft': case 'ArrowDown': return at - step;
    case 'ArrowRight': case 'ArrowUp': return at + step;
    case 'Home': return record.from_us;
    case 'End': return record.to_us;
    case 'PageUp': return moments(record).reduce((best, one) => (one < at && one > best ? one : best), record.from_us);
    case 'PageDown': return moments(record).reduce((best, one) => (one > at && one < best ? one : best), record.to_us);
    default: return null;
  }
}

/** Of a long roll that is broken there are hundreds of thousands. @param {Pick<Known, 'misses'|'by'>} record @returns {number[]} */
function moments({ misses, by }) {
  return [...misses.map((tick) => tick.due_us), ...EVENTS.flatMap((kind) => by[kind] ?? []).map((one) => one.at_us)];
}
