// Asks the rules for the past, compiled to a wasm of their own: the only file that loads it.

/** @typedef {typeof import('./greenlight_past.js')} Past */

/** @type {Promise<Past>|null} */
let loading = null;

/** Loads it, once. A try that failed leaves the next one a chance. @returns {Promise<Past>} */
export function load_past() {
  loading ??= import('./greenlight_past.js').then(async (past) => {
    await past.default();
    return past;
  });
  loading.catch(() => {
    loading = null;
  });
  return loading;
}
