// Where the daemon is, and its snapshot.

/** @typedef {import('../types/page').App} App */

/** A snapshot that takes longer than this is asked for again rather than waited for. */
const APP_TIMEOUT_MS = 10_000;

/** Whether this is a copy of the page on a static host. Such a copy says so in its head. */
export function is_a_copy() {
  return document.querySelector('meta[name="greenlight-copy"]') !== null;
}

/**
 * The daemon's own page asks its own origin and nothing else; only a copy obeys `?daemon=`. null: such a copy, and no
 * daemon named.
 * @returns {string|null}
 */
export function daemon_origin() {
  if (!is_a_copy()) return location.origin;
  const named = new URLSearchParams(location.search).get('daemon');
  if (named === null || !URL.canParse(named)) return null;
  const url = new URL(named);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : null;
}

/** @param {string} origin @returns {Promise<App>} */
export async function fetch_app(origin) {
  const answer = await fetch(`${origin}/app`, { cache: 'no-store', signal: AbortSignal.timeout(APP_TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`it answered ${answer.status} to /app`);
  return answer.json();
}

/**
 * The verdict alone, which costs the daemon the same for any number of rows. null: it did not say one.
 * @param {string} origin @returns {Promise<{ready: boolean, text: string}|null>}
 */
export async function fetch_word(origin) {
  const answer = await fetch(`${origin}/readyz`, { cache: 'no-store', signal: AbortSignal.timeout(APP_TIMEOUT_MS) });
  const [line] = (await answer.text()).split('\n', 1);
  if (line === 'ready') return { ready: true, text: '' };
  return line.startsWith(NOT_READY) ? { ready: false, text: line.slice(NOT_READY.length) } : null;
}

/** How the line begins that says why. */
const NOT_READY = 'not ready: ';
