// The History view: which window is loaded and from where, what the address says of it, and what actions do.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').StaleAfter} StaleAfter */
/** @typedef {import('./greenlight_past.js').History} Wasm */

import { later, now_ms } from './clock.js';
import { Lines } from './history-lines.js';
import { compared, lanes_shown, nth, place_at, replay } from './history-replay.js';
import { view } from './history-view.js';
import { iso, read_moment } from './history-words.js';
import { share } from './lanes.js';
import { load_past } from './past.js';
import { BAD_FIELD } from './view-horizon.js';

/** What is asked for when nothing is said. */
const WINDOW = '-24h';
/** How long a cursor rests before the address says where. */
const REST_MS = 400;
/** A step of the arrows is one in so many of the window, a page ten times that. */
const STEPS = 200;
/** A line without an end is handed over at the latest when it is so long, to be refused. */
const MOST_REST = 16 * 1024 * 1024;

/**
 * @typedef {object} Shown
 * @property {string} from as it was asked for: `-24h`, or a moment as an address has it
 * @property {string} to '' is now
 * @property {string} stale_after the what-if as it was written; '' is none
 * @property {number|null} at the moment that the cursor is at
 * @property {number|null} hover the one that the pointer is over
 * @property {boolean} all every instance has its lane
 * @property {string} file the name of the file that is open; '' is the daemon's own
 * @property {'loading'|'shown'|'refused'|'failed'} stage
 * @property {number} read how many events have come so far
 * @property {string} trouble why it is refused, or was not to be had
 * @property {boolean} part what is shown is only what stood before the line that was refused
 * @property {string} wrong what is wrong with what was written into a field
 * @property {{from?: string, to?: string}} draft what is being written into the fields of the range
 * @property {Replay|null} replay
 * @property {Lines|null} lines
 * @property {Record<string, number>} tables the tables that are open, each at its first row
 */

/** @param {Host} host @returns {LaterView} */
export function open(host) {
  /** @type {Shown} */
  const shown = { from: WINDOW, to: '', stale_after: '', at: null, hover: null, all: false, file: '', stage: 'loading', read: 0, trouble: '', part: false, wrong: '', draft: {}, replay: null, lines: null, tables: {} };
  /** @type {Wasm|null} */
  let wasm = null;
  /** The replay of what is loaded under the daemon's own horizon. @type {Replay|null} */
  let own = null;
  /** What is loaded, so that the same is not loaded twice. */
  let loaded = '';
  let loads = 0;
  let resting = false;
  /** @type {AbortController|null} */
  let running = null;

  /** @param {() => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>} source */
  async function load(source) {
    const mine = ++loads;
    running?.abort();
    Object.assign(shown, { stage: 'loading', read: 0, trouble: '', part: false, hover: null });
    host.draw_soon();
    /** @type {Wasm|null} */
    let next = null;
    /** @type {Lines|null} */
    let lines = null;
    try {
      const [past, stream] = await Promise.all([load_past(), source()]);
      if (mine !== loads) return;
      next = new past.History();
      lines = new Lines(next);
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (mine !== loads) {
          next.free();
          return;
        }
        if (done) break;
        const whole = (rest + value).split('\n');
        rest = /** @type {string} */ (whole.pop());
        if (rest.length > MOST_REST) lines.read(rest, false);
        for (const line of whole) lines.read(line, true);
        shown.read = lines.events;
        host.draw_soon();
      }
      if (rest !== '') lines.read(rest, false);
      lines.end();
      show(next, lines);
    } catch (error) {
      if (mine !== loads) {
        next?.free();
        return;
      }
      shown.trouble = error instanceof Error ? error.message : String(error);
      shown.stage = next !== null && shown.file !== '' ? 'refused' : 'failed';
      shown.replay = null;
      keep(next, lines);
    }
    host.draw_soon();
  }

  /** @param {Wasm|null} next @param {Lines|null} lines */
  function keep(next, lines) {
    wasm?.free();
    wasm = next;
    own = null;
    shown.lines = lines;
  }

  /** @param {Wasm} next @param {Lines} lines */
  function show(next, lines) {
    keep(next, lines);
    shown.stage = 'shown';
    shown.tables = {};
    judge();
  }

  /** Replays what is loaded under the daemon's own horizon, unless that is at hand, and under the other one. */
  function judge() {
    const head = shown.lines?.head;
    if (!wasm || !shown.lines || !head) return;
    const secs = head.stale_after_secs;
    const trial = horizon();
    performance.mark('greenlight-replay-start');
    own ??= replay(wasm, shown.lines, head.from_unix, head.to_unix, secs);
    shown.replay = trial === undefined || trial === secs ? own : compared(wasm, shown.lines, own, trial);
    performance.measure('greenlight-replay', 'greenlight-replay-start');
  }

  /** @returns {StaleAfter} */
  function horizon() {
    return shown.stale_after === '' ? undefined : host.read_horizon(shown.stale_after);
  }

  async function ask() {
    if (host.origin === null) throw new Error('there is no daemon to ask: open an export, or name a daemon');
    running = new AbortController();
    const answer = await fetch(`${host.origin}/history?${asked()}`, { cache: 'no-store', signal: running.signal });
    if (answer.ok && answer.body) return answer.body;
    const told = await answer.json().then((problem) => String(problem.detail), () => '');
    if (answer.status === 404 && !told.includes('history')) throw new Error('this daemon is too old to keep a history');
    throw new Error(told || `the daemon answered ${answer.status}`);
  }

  function asked() {
    const query = new URLSearchParams({ lines: '1', from: shown.from });
    if (shown.to !== '') query.set('to', shown.to);
    return query;
  }

  /** @param {'push'|'replace'} step */
  function tell(step) {
    const { from, to, stale_after, at, all, file } = shown;
    host.show({ from: file !== '' || from === WINDOW ? '' : from, to: file === '' ? to : '', stale_after, at: at === null ? '' : iso(at), all: all ? '1' : '' }, step);
  }

  function reload() {
    shown.file = '';
    loaded = `${shown.from} ${shown.to}`;
    void load(ask);
  }

  /** @param {number|null} moment */
  function go_to(moment) {
    const { replay: of } = shown;
    shown.at = moment === null || !of ? null : Math.min(Math.max(Math.round(moment), of.from), of.to - 1);
    if (resting) return;
    resting = true;
    later(REST_MS, () => {
      resting = false;
      tell('replace');
    });
  }

  /** The moment at which the pointer is. @param {Event|undefined} event */
  function pointed(event) {
    const along = share(event);
    const of = shown.replay;
    return along === null || !of ? null : Math.floor(of.from + along * (of.to - 1 - of.from));
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const { replay: of } = shown;
    if (!of || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = shown.at ?? of.to - 1;
    const step = Math.max(1, Math.round((of.to - of.from) / STEPS));
    const forward = event.key === 'ArrowRight' || event.key === 'ArrowUp';
    /** @type {Record<string, () => number>} */
    const moves = {
      Home: () => of.from,
      End: () => of.to - 1,
      PageUp: () => at + 10 * step,
      PageDown: () => at - 10 * step,
    };
    for (const name of ['ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown']) moves[name] = () => (event.shiftKey ? change(of, at, forward) : at + (forward ? step : -step));
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    shown.hover = null;
    go_to(move());
  }

  /** The nearest moment at which a lane that is shown changes. @param {Replay} of @param {number} at @param {boolean} forward */
  function change(of, at, forward) {
    const lanes = [...of.lanes.map(({ verdict }) => verdict), ...lanes_shown(shown, of).map((number) => of.lanes[0].standings[number])];
    const moments = lanes.flatMap((spans) => {
      const place = place_at(of, spans, at);
      return [place - 1, place, place + 1].filter((near) => near >= 0 && near < spans.length).flatMap((near) => [of.start(nth(spans, near)), of.end(nth(spans, near))]);
    });
    return forward ? Math.min(of.to - 1, ...moments.filter((moment) => moment > at)) : Math.max(of.from, ...moments.filter((moment) => moment < at));
  }

  /** What the forms hold. @param {Event|undefined} event */
  function fields(event) {
    const form = event?.target;
    return form instanceof HTMLFormElement ? [...form.elements].map((field) => (field instanceof HTMLInputElement ? field.value.trim() : '')) : [];
  }

  /** @param {string} text @param {string} or what an empty field is @returns {string|null} */
  function moment_of(text, or) {
    if (text === '' || text === 'now') return or;
    if (/^[-−]/.test(text)) return typeof host.read_horizon(text.slice(1)) === 'number' ? `-${text.slice(1)}` : null;
    const unix = read_moment(text, now_ms() / 1000);
    return unix === null ? null : iso(unix);
  }

  /** @type {Record<string, (value: any, event: Event|undefined) => void>} */
  const actions = {
    window(from) {
      Object.assign(shown, { from, to: '', at: null, wrong: '', draft: {} });
      reload();
      tell('push');
    },
    now: () => reload(),
    write(/** @type {'from'|'to'} */ name, event) {
      if (event?.target instanceof HTMLInputElement) shown.draft[name] = event.target.value;
    },
    range(_, event) {
      const [first, last] = fields(event);
      const from = moment_of(first, WINDOW);
      const to = moment_of(last, '');
      shown.wrong = from === null || to === null ? 'A moment is 2026-08-03 14:05, 14:05, or so long ago as -7d' : '';
      if (from === null || to === null) return;
      Object.assign(shown, { from, to, at: null, draft: {} });
      reload();
      tell('push');
    },
    horizon(text) {
      Object.assign(shown, { stale_after: text, wrong: '' });
      judge();
      tell('push');
    },
    'horizon-done'(_, event) {
      const [text] = fields(event);
      shown.wrong = text !== '' && host.read_horizon(text) === undefined ? BAD_FIELD : '';
      if (shown.wrong === '') actions.horizon(text, undefined);
    },
    all(all) {
      shown.all = all;
      tell('replace');
    },
    point(_, event) {
      shown.hover = pointed(event);
    },
    leave: () => {
      shown.hover = null;
    },
    // Its own place: a finger has left before it is a click.
    pin(_, event) {
      const moment = pointed(event);
      shown.hover = null;
      if (moment !== null) go_to(moment);
    },
    key: (_, event) => event instanceof KeyboardEvent && key(event),
    table(name, event) {
      const is_open = event?.target instanceof HTMLDetailsElement && event.target.open;
      if (is_open) shown.tables[name] ??= 0;
      else delete shown.tables[name];
    },
    page([name, first]) {
      shown.tables[name] = first;
    },
    part() {
      if (!wasm || !shown.lines) return;
      Object.assign(shown, { stage: 'shown', part: true });
      judge();
    },
    escape() {
      if (shown.at !== null) go_to(null);
      else if (shown.stale_after !== '') actions.horizon('', undefined);
    },
  };

  return {
    draw: (state, time) => view(shown, host, asked(), state, time),
    act([name, value], event) {
      actions[String(name)]?.(value, event);
      host.draw_soon();
    },
    open_file(file) {
      Object.assign(shown, { file: file.name, at: null });
      loaded = '';
      void load(async () => file.stream());
      tell('replace');
    },
    came() {
      const query = host.query();
      const read = (/** @type {string} */ name) => query.get(name) ?? '';
      const at = read('at') === '' ? null : read_moment(read('at'), 0);
      const before = shown.stale_after;
      Object.assign(shown, { stale_after: read('stale_after'), at, all: read('all') === '1' });
      if (shown.file !== '' && loaded === '') {
        // A file has no address: it stays until another window is asked for.
        if (read('from') === '') {
          if (before !== shown.stale_after) judge();
          return;
        }
      }
      Object.assign(shown, { from: read('from') || WINDOW, to: read('to') });
      if (loaded !== `${shown.from} ${shown.to}`) reload();
      else if (before !== shown.stale_after) judge();
    },
  };
}
