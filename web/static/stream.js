// One event stream to the daemon, opened again whenever it breaks. It says what it hears and judges nothing.

/** @typedef {import('../types/page').FromStream} FromStream */
/** @typedef {import('../types/page').Renew} Renew */

/** Waits between attempts, in milliseconds: quick at first, for a restart takes a second; then out of the way. */
const BACKOFF_MS = [500, 1000, 2000, 4000];

export class Stream {
  /** @type {EventSource|null} */
  #source = null;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  #failures = 0;
  #url;
  #last_id = '';
  #tell;
  /** Who vouched for what since this stream was opened: told to whoever joins later. */
  #sources = new Map();
  #rows = new Map();
  /** @type {import('../types/page').Beat|null} */
  #beat = null;

  /** @param {string} url @param {(message: FromStream) => void} tell */
  constructor(url, tell) {
    this.#url = url;
    this.#tell = tell;
    this.#open();
  }

  close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** What a listener that comes late has missed, or null while the daemon has not spoken yet. @returns {FromStream|null} */
  joined() {
    if (this.#beat === null || this.#failures > 0) return null;
    return { kind: 'joined', beat: this.#beat, renew: { sources: [...this.#sources.values()], rows: [...this.#rows.values()] } };
  }

  #open() {
    const after = this.#last_id === '' ? '' : `?after=${encodeURIComponent(this.#last_id)}`;
    const source = new EventSource(this.#url + after);
    this.#source = source;
    source.onopen = () => this.#tell({ kind: 'open' });
    source.onerror = () => this.#broken();
    source.addEventListener('beat', (event) => {
      const first = this.#beat === null || this.#failures > 0;
      this.#beat = JSON.parse(event.data);
      this.#failures = 0;
      const joined = first ? this.joined() : null;
      this.#tell(joined ?? { kind: 'beat', beat: /** @type {import('../types/page').Beat} */ (this.#beat) });
    });
    source.addEventListener('change', (event) => {
      this.#last_id = event.lastEventId || this.#last_id;
      const change = JSON.parse(event.data);
      for (const name of change.removed) this.#rows.delete(name);
      for (const row of change.rows) this.#rows.delete(row.name);
      this.#tell({ kind: 'change', change });
    });
    source.addEventListener('renew', (event) => {
      /** @type {Renew} */
      const renew = JSON.parse(event.data);
      for (const entry of renew.sources) this.#sources.set(entry.source, entry);
      for (const entry of renew.rows) this.#rows.set(entry.name, entry);
      this.#tell({ kind: 'renew', renew });
    });
    source.addEventListener('reset', () => {
      this.#last_id = '';
      this.#sources.clear();
      this.#rows.clear();
      this.#tell({ kind: 'reset' });
    });
  }

  #broken() {
    this.#source?.close();
    const wait = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)];
    this.#failures += 1;
    this.#tell({ kind: 'error' });
    this.#timer = setTimeout(() => this.#open(), wait);
  }
}
