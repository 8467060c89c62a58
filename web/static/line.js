// The page's line to its daemon: the stream, shared with other tabs where the browser can.

/** @typedef {import('../types/page').FromStream} FromStream */

import { Stream } from './stream.js';

/**
 * @param {string} origin
 * @param {(message: FromStream) => void} tell
 * @returns {{listen: (on: boolean) => void}}
 */
export function open_line(origin, tell) {
  const events = `${origin}/events`;
  const worker = shared_worker(events);
  /** @type {Stream|null} */
  let stream = null;
  let listening = false;
  let through_worker = worker !== null;
  /** @param {boolean} on */
  const listen = (on) => {
    listening = on;
    stream?.close();
    stream = null;
    if (through_worker) worker?.port.postMessage({ listen: on });
    else if (on) stream = new Stream(events, tell);
  };
  if (worker) {
    worker.port.onmessage = (event) => tell(event.data);
    // A browser that knows shared workers but not as modules says so here; then this tab has its own stream.
    worker.onerror = () => {
      through_worker = false;
      listen(listening);
    };
  }
  return { listen };
}

/** @param {string} events */
function shared_worker(events) {
  if (typeof SharedWorker === 'undefined') return null;
  const url = new URL('./stream-worker.js', import.meta.url);
  url.searchParams.set('events', events);
  try {
    return new SharedWorker(url, { type: 'module', name: 'greenlight' });
  } catch {
    return null;
  }
}
