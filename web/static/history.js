// The History view: which window is loaded and from where, what the address says of it, and what actions do.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').StaleAfter} StaleAfter */
/** @typedef {import('./greenlight_past.js').History} Wasm */

import { later, now_ms } from './clock.js';
import { Lines, read_all } from './history-lines.js';
import { STANDINGS, lanes_shown } from './history-filter.js';
import { keyed } from './history-keys.js';
import { WINDOW, moment_of, part_of } from './history-range.js';
import { compared, last_of, replay } from './history-replay.js';
import { view } from './history-view.js';
import { iso, read_moment } from './history-words.js';
import { share } from './lanes.js';
import { load_past } from './past.js';
import { BAD_FIELD } from './view-horizon.js';

/** How long a cursor rests before the address says where. */
const REST_MS = 400;

/**
 * @typedef {object} Shown
 * @property {string} from as it was asked for: `-24h`, or a moment as an address has it; of a file, '' is its beginning
 * @property {string} to '' is now, or the end of the file
 * @property {string} stale_after the what-if as it was written; '' is none
 * @property {number|null} at the moment that the cursor is at
 * @property {number|null} outside the one that an address asked for, where it is not in the window
 * @property {number|null} hover the one that the pointer is over
 * @property {boolean} all every instance has its lane, as far as that is possible
 * @property {string} q what the names of the instances that are shown have in them
 * @property {import('../types/page').Standing|''} standing how they stood at some moment of the window
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
  const shown = { from: WINDOW, to: '', stale_after: '', at: null, outside: null, hover: null, all: false, q: '', standing: '', file: '', stage: 'loading', read: 0, trouble: '', part: false, wrong: '', draft: {}, replay: null, lines: null, tables: {} };
  /** @type {Wasm|null} */
  let wasm = null;
  /** The replay of the window under the daemon's own horizon. @type {Replay|null} */
  let own = null;
  /** What was replayed last: window and horizon. */
  let judged = '';
  /** The window of the daemon that was shown when a file was opened. */
  let before_file = { from: WINDOW, to: '' };
  let source = ask;
  /** What is loaded, so that the same is not loaded twice. */
  let loaded = '';
  let loads = 0;
  let resting = false;
  /** @type {AbortController|null} */
  let running = null;

  async function load() {
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
      const coming = lines;
      const is_whole = await read_all(stream, lines, () => {
        if (mine !== loads) return false;
        shown.read = coming.events;
        host.draw_soon();
        return true;
      });
      if (!is_whole) {
        next.free();
        return;
      }
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
    judged = '';
    shown.lines = lines;
  }

  /** @param {Wasm} next @param {Lines} lines */
  function show(next, lines) {
    keep(next, lines);
    shown.stage = 'shown';
    shown.tables = {};
    judge();
  }

  /** Replays the window under the daemon's own horizon, and under the other one, as far as that is not at hand. */
  function judge() {
    const head = shown.lines?.head;
    if (shown.stage !== 'shown' || !wasm || !shown.lines || !head) return;
    const part = shown.file === '' ? '' : part_of(host, head, shown.file, shown);
    if (typeof part === 'string' && part !== '') shown.wrong = part;
    const { from, to } = typeof part === 'string' ? { from: head.from_unix, to: head.to_unix } : part;
    keep_within(from, to);
    const secs = head.stale_after_secs;
    const trial = horizon();
    const asked_for = `${from} ${to} ${trial}`;
    if (judged === asked_for) return;
    judged = asked_for;
    performance.mark('greenlight-replay-start');
    if (own?.from !== from || own.to !== to) own = replay(wasm, shown.lines, from, to, secs);
    shown.replay = trial === undefined || trial === secs ? own : compared(wasm, shown.lines, own, trial);
    performance.measure('greenlight-replay', 'greenlight-replay-start');
  }

  /** Of a moment outside nothing is known: it would be told as if nobody had watched. @param {number} from @param {number} to */
  function keep_within(from, to) {
    if (shown.at === null || (shown.at >= from && shown.at <= last_of({ from, to }))) return;
    Object.assign(shown, { at: null, outside: shown.at });
    tell('replace');
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
    const { from, to, stale_after, at, all, q, standing, file, stage, replay: of } = shown;
    // A moment stays where it is: a window that moved on would leave it.
    const window = at !== null && of && stage === 'shown' ? { from: iso(of.from), to: iso(of.to) } : { from: file === '' && from === WINDOW ? '' : from, to };
    host.show({ ...window, stale_after, at: at === null ? '' : iso(at), all: all ? '1' : '', q, standing }, step);
  }

  function reload() {
    shown.file = '';
    source = ask;
    loaded = `${shown.from} ${shown.to}`;
    void load();
  }

  /** Another window: of the file, if one is open. @param {{from: string, to: string}} range */
  function look_at(range) {
    Object.assign(shown, { ...range, at: null, outside: null, wrong: '', draft: {} });
    if (shown.file === '') reload();
    else judge();
    tell('push');
  }

  /** @param {number|null} moment */
  function go_to(moment) {
    const { replay: of } = shown;
    shown.outside = null;
    shown.at = moment === null || !of ? null : Math.min(Math.max(Math.round(moment), of.from), last_of(of));
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
    return along === null || !of ? null : Math.floor(of.from + along * (last_of(of) - of.from));
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const { replay: of } = shown;
    const moment = of && keyed(event, of, shown.at ?? last_of(of), lanes_shown(shown, of));
    if (moment === null) return;
    event.preventDefault();
    shown.hover = null;
    go_to(moment);
  }

  /** What the forms hold. @param {Event|undefined} event */
  function fields(event) {
    const form = event?.target;
    return form instanceof HTMLFormElement ? [...form.elements].map((field) => (field instanceof HTMLInputElement ? field.value.trim() : '')) : [];
  }

  /** @type {Record<string, (value: any, event: Event|undefined) => void>} */
  const actions = {
    window: (from) => look_at({ from, to: '' }),
    now: () => reload(),
    again: () => void load(),
    daemon() {
      shown.file = '';
      look_at(before_file);
    },
    write(/** @type {'from'|'to'} */ name, event) {
      if (event?.target instanceof HTMLInputElement) shown.draft[name] = event.target.value;
    },
    range(_, event) {
      const [first, last] = fields(event);
      const { file } = shown;
      const head = file === '' ? null : shown.lines?.head;
      const now = head ? head.to_unix : now_ms() / 1000;
      const from = moment_of(host, first, file === '' ? WINDOW : '', now);
      const to = moment_of(host, last, '', now);
      const part = head && from !== null && to !== null ? part_of(host, head, file, { from, to }) : '';
      if (from === null || to === null) shown.wrong = 'A moment is 2026-08-03 14:05, 14:05, or so long ago as -7d';
      else if (typeof part === 'string' && part !== '') shown.wrong = part;
      else look_at({ from, to });
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
    filter(step, event) {
      if (event?.target instanceof HTMLInputElement) shown.q = event.target.value;
      tell(step);
    },
    standing(standing) {
      shown.standing = standing;
      tell('push');
    },
    unfilter() {
      Object.assign(shown, { q: '', standing: '' });
      tell('push');
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
    draw(state, time) {
      // A horizon can be read only once the rules are there, which may be after the window is.
      judge();
      return view(shown, host, asked(), state, time);
    },
    act([name, value], event) {
      actions[String(name)]?.(value, event);
      host.draw_soon();
    },
    open_file(file) {
      if (shown.file === '') before_file = { from: shown.from, to: shown.to };
      Object.assign(shown, { file: file.name, from: '', to: '', at: null, outside: null, wrong: '', draft: {} });
      source = async () => file.stream();
      void load();
      tell('replace');
    },
    came() {
      const query = host.query();
      const read = (/** @type {string} */ name) => query.get(name) ?? '';
      const at = read('at') === '' ? null : read_moment(read('at'), 0);
      Object.assign(shown, { stale_after: read('stale_after'), at, outside: null, wrong: '', all: read('all') === '1', q: read('q'), standing: STANDINGS.find((name) => name === read('standing')) ?? '' });
      const { replay: of, file } = shown;
      const [from, to] = [read('from'), read('to')];
      const is_there = shown.stage === 'shown' && of !== null && from === iso(of.from) && to === iso(of.to);
      if (!is_there) Object.assign(shown, { from: from || (file === '' ? WINDOW : ''), to });
      // A file has no address: it stays until somebody goes back to the daemon.
      if (file !== '' || is_there || loaded === `${shown.from} ${shown.to}`) judge();
      else reload();
    },
  };
}
