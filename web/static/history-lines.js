// Reads an export line by line and hands it to wasm as numbers. What a line may say is for the rules to judge; here it
// is only taken apart.

/** @typedef {import('./greenlight_past.js').History} Wasm */
/** @typedef {Record<string, unknown>} Fields */
/** @typedef {import('../types/page').HistoryHead} HistoryHead */

import { Wrong } from './wrong.js';

/** So many numbers cross at once. */
const BATCH = 16_384;
/** Only of a line of more characters need it be asked whether it is too long. */
const LONG = 65_536;
/** A line without an end is handed over at the latest when it is so long, to be refused. */
const MOST_REST = 16 * 1024 * 1024;
const NONE = -1;
const NO_NUMBERS = new Float64Array();

/** The lines of one export. */
export class Lines {
  /** @type {HistoryHead|null} */
  head = null;
  events = 0;
  /** By number, in the order in which they came. @type {Map<string, number>} */
  names = new Map();
  /** @type {Map<string, number>} */
  shas = new Map();
  /** @type {Map<string, number>} */
  #sources = new Map();
  /** @type {number[]} */
  #batch = [];
  #wasm;

  /** @param {Wasm} wasm */
  constructor(wasm) {
    this.#wasm = wasm;
  }

  /** Reads the next line. Throws the line and what is wrong with it. @param {string} line @param {boolean} is_whole whether it had an end */
  read(line, is_whole) {
    if (line.length > LONG) this.#tell('long', '', line.length);
    const before = this.#batch.length;
    try {
      if (this.head === null || !this.#changed_row(line)) this.#entry(line);
    } catch (error) {
      if (error instanceof Refused) throw error;
      this.#batch.length = before;
      const why = /** @type {Error} */ (error).message;
      this.#tell('wrong', this.head || error instanceof Wrong ? why : '', Number(is_whole));
    }
    if (this.#batch.length >= BATCH) this.#flush();
  }

  /** No line follows. */
  end() {
    this.#tell('over', '');
  }

  /** @param {string} line */
  #entry(line) {
    const fields = JSON.parse(line);
    if (typeof fields !== 'object' || fields === null) throw new Error('no object');
    if (this.head === null) this.#head(fields);
    else if ('end' in fields) this.#tell('end', '', whole(fields.end, 'events'), whole_if_any(fields.end, 'next'));
    else this.#event(fields);
  }

  /** @param {any} fields */
  #head(fields) {
    if (typeof fields.schema !== 'string') throw new Error();
    // A newer head may have another shape.
    const numbers = () => [whole(fields, 'from_unix'), whole(fields, 'to_unix'), whole(fields, 'known_until_unix'), whole_if_any(fields, 'stale_after_secs'), whole_if_any(fields, 'complete_from_unix')];
    this.#tell('schema', fields.schema);
    this.#tell('head', fields.schema, ...numbers());
    this.head = fields;
  }

  /**
   * Takes a row that changed, if the line has the shape in which daemons write that, and says whether it has. Nearly all
   * lines have it, and by its shape one is read in a third of the time; any other line is read as the JSON that it is.
   * @param {string} line
   */
  #changed_row(line) {
    const parts = CHANGED_ROW.exec(line);
    if (parts === null) return false;
    const [, at, name, order, source, change, stored, sha, green] = parts;
    this.#batch.push(0, Number(at), this.#name(name), Number(order), this.#source(source), Number(change),
      Number(stored ?? NONE), this.#sha(sha ?? null), green === undefined ? NONE : 0);
    this.events++;
    return true;
  }

  /** @param {any} fields */
  #event(fields) {
    const kind = KINDS.indexOf(fields.event);
    if (kind < 0) throw new Wrong('event', fields.event, 'something that happens');
    const put = this.#batch;
    put.push(kind, whole(fields, 'at_unix'));
    if (kind === 0) {
      const row = /** @type {Fields} */ (fields.row ?? {});
      put.push(this.#name(fields.name), whole_if_any(fields, 'order', 0), this.#source(fields.source), whole(fields, 'last_change_unix'),
        whole_if_any(fields, 'stored_change_unix'), this.#sha(text_if_any(row, 'serving_sha')), text_if_any(row, 'last_green') === null ? NONE : 0);
    } else if (kind === 1) {
      put.push(this.#name(fields.name));
    } else if (kind < 4) {
      put.push(this.#source(fields.source));
      if (kind === 2) put.push(whole_if_any(fields, 'good_until_unix'));
      if (!Array.isArray(fields.names)) throw new Wrong('names', fields.names, 'a list');
      put.push(fields.names.length);
      for (const name of fields.names) put.push(this.#name(name));
    } else if (kind === 4) {
      put.push(whole_if_any(fields, 'watched_until_unix'));
      const drift = fields.drift_secs ?? 0;
      if (!Number.isSafeInteger(drift)) throw new Wrong('drift_secs', drift, 'whole seconds');
      put.push(Math.max(drift, 0), Math.max(-drift, 0));
    } else {
      put.push(kind === 5 ? whole(fields, 'watched_until_unix') : whole_if_any(fields, 'missing_since_unix'));
    }
    this.events++;
  }

  /** @param {unknown} name */
  #name(name) {
    return this.#number(this.names, name, 'instance', 'name', 'the name of an instance');
  }

  /** @param {unknown} source */
  #source(source) {
    return this.#number(this.#sources, source, 'source', 'source', 'the name of a source');
  }

  /** @param {string|null} sha */
  #sha(sha) {
    if (sha === null) return NONE;
    const known = this.shas.get(sha);
    if (known !== undefined) return known;
    this.shas.set(sha, this.shas.size);
    return this.shas.size - 1;
  }

  /** @param {Map<string, number>} known @param {unknown} text @param {string} what @param {string} key @param {string} wanted */
  #number(known, text, what, key, wanted) {
    const number = known.get(/** @type {string} */ (text));
    if (number !== undefined) return number;
    if (typeof text !== 'string' || !this.#passes(what, text)) throw new Wrong(key, text, wanted);
    known.set(text, known.size);
    return known.size - 1;
  }

  /** @param {string} what @param {string} text */
  #passes(what, text) {
    try {
      this.#wasm.take(what, text, NO_NUMBERS);
      return true;
    } catch {
      return false;
    }
  }

  #flush() {
    if (this.#batch.length === 0) return;
    const batch = Float64Array.from(this.#batch);
    this.#batch = [];
    this.#take('events', '', batch);
  }

  /** What was read before comes before it. @param {string} what @param {string} text @param {...number} numbers */
  #tell(what, text, ...numbers) {
    this.#flush();
    this.#take(what, text, Float64Array.from(numbers));
  }

  /** @param {string} what @param {string} text @param {Float64Array} numbers */
  #take(what, text, numbers) {
    try {
      this.#wasm.take(what, text, numbers);
    } catch (error) {
      throw new Refused(/** @type {Error} */ (error).message);
    }
  }
}

/**
 * Reads all lines of a stream; false: nobody wanted it any more, and it was left.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream @param {Lines} lines @param {() => boolean} goes_on whether it is still wanted, asked after each part
 */
export async function read_all(stream, lines, goes_on) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (!goes_on()) return false;
    if (done) break;
    const whole = (rest + value).split('\n');
    rest = /** @type {string} */ (whole.pop());
    if (rest.length > MOST_REST) lines.read(rest, false);
    for (const line of whole) lines.read(line, true);
  }
  if (rest !== '') lines.read(rest, false);
  lines.end();
  return true;
}

/** The line of a row that changed, without escapes in its texts. */
const CHANGED_ROW = (() => {
  const whole = '(0|[1-9][0-9]{0,14})';
  const text = '"([^"\\\\\\0-\\x1f]*)"';
  const unread = '"[^"\\\\\\0-\\x1f]*"';
  const row = `"phase":${unread},"serving_sha":(?:null|${text}),"last_green":(?:null|${text}),"last_red_sha":(?:null|${unread}),"last_red_reason":(?:null|${unread}),"last_red_files":\\[(?:${unread}(?:,${unread})*)?\\],"pending_sha":(?:null|${unread}),"draining":${whole}`;
  return RegExp(`^\\{"at_unix":${whole},"event":"changed","name":${text},"order":${whole},"source":${text},"last_change_unix":${whole}(?:,"stored_change_unix":${whole})?,"row":\\{${row}\\}\\}$`);
})();

/** In the order of their numbers. @type {unknown[]} */
const KINDS = ['changed', 'removed', 'lapsed', 'came_back', 'started', 'resumed', 'retold'];

/** The line and what is wrong with it. */
export class Refused extends Error {}

/** @param {any} fields @param {string} key @returns {number} */
function whole(fields, key) {
  const value = fields?.[key];
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Wrong(key, value, 'a whole number');
}

/** @param {any} fields @param {string} key @param {number} [or] where it is null or left out */
function whole_if_any(fields, key, or = NONE) {
  return (fields?.[key] ?? null) === null ? or : whole(fields, key);
}

/** @param {Fields} fields @param {string} key */
function text_if_any(fields, key) {
  const value = fields[key];
  if (value === null || typeof value === 'string') return value;
  throw new Wrong(key, value, 'a text or null');
}
