// One stream for all tabs of a browser: it allows six connections per origin, and a seventh tab would hang.

import { Stream } from './stream.js';

/** @type {Set<MessagePort>} */
const listeners = new Set();
/** @type {Stream|null} */
let stream = null;
const url = new URLSearchParams(self.location.search).get('events') ?? '/events';

/** @param {MessageEvent<{listen: boolean}>} event @param {MessagePort} port */
function hear(event, port) {
  if (event.data.listen) {
    listeners.add(port);
    const joined = stream?.joined();
    if (joined) port.postMessage(joined);
    stream ??= new Stream(url, (message) => {
      for (const listener of listeners) listener.postMessage(message);
    });
  } else {
    listeners.delete(port);
    if (listeners.size === 0) {
      stream?.close();
      stream = null;
    }
  }
}

self.addEventListener('connect', (event) => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  port.onmessage = (message) => hear(message, port);
});
