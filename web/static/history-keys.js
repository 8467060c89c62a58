// What a key makes of the cursor of the History view. Pure.

/** @typedef {import('../types/page').Replay} Replay */

import { last_of, nth, place_at } from './history-replay.js';

/** A step of the arrows is one in so many of the window, a page ten times that. */
const STEPS = 200;

/**
 * Where the cursor goes; null: the key is none of its own.
 * @param {KeyboardEvent} event @param {Replay} of @param {number} at where it is @param {number[]} numbers of the instances that have a lane
 */
export function keyed(event, of, at, numbers) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const step = Math.max(1, Math.round((of.to - of.from) / STEPS));
  switch (event.key) {
    case 'ArrowRight': case 'ArrowUp': return event.shiftKey ? change(of, at, true, numbers) : at + step;
    case 'ArrowLeft': case 'ArrowDown': return event.shiftKey ? change(of, at, false, numbers) : at - step;
    case 'Home': return of.from;
    case 'End': return last_of(of);
    case 'PageUp': return at + 10 * step;
    case 'PageDown': return at - 10 * step;
    default: return null;
  }
}

/** The nearest moment at which a lane that is shown changes. @param {Replay} of @param {number} at @param {boolean} forward @param {number[]} numbers */
function change(of, at, forward, numbers) {
  const lanes = [...of.lanes.map(({ verdict }) => verdict), ...numbers.map((number) => of.lanes[0].standings[number])];
  const moments = lanes.flatMap((spans) => {
    const place = place_at(of, spans, at);
    return [place - 1, place, place + 1].filter((near) => near >= 0 && near < spans.length).flatMap((near) => [of.start(nth(spans, near)), of.end(nth(spans, near))]);
  });
  return forward ? Math.min(last_of(of), ...moments.filter((moment) => moment > at)) : Math.max(of.from, ...moments.filter((moment) => moment < at));
}
