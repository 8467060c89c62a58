// Loads what replays the past, once: the rules, compiled to a wasm module of its own.

/** @typedef {typeof import('./greenlight_past.js')} Past */

/** @type {Promise<Past>|null} */
let loading = null;

/** @returns {Promise<Past>} */
export function load_past() {
  loading ??= load();
  return loading;
}

async function load() {
  try {
    const past = await import('./greenlight_past.js');
    await past.default();
    return past;
  } catch (error) {
    // A later try may find what this one did not.
    loading = null;
    throw error;
  }
}
