// Owns the state, hands it to the views once a second and whenever something happened, and does what actions ask for.

/** @typedef {import('../types/page').App} App */
/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */

import { own_query, read_address, with_query, write_address } from './address.js';
import { doubted, failed, heard, is_known, new_line, phase } from './alive.js';
import { read_saved } from './board.js';
import { every_second, later, local_ms, measure, now_ms, skew_ms, zone_minutes } from './clock.js';
import { daemon_origin, is_a_copy } from './daemon.js';
import { focusOn, mount, showDialog, writeHead } from './dom.js';
import { Follower } from './follow.js';
import { TELLING, is_held } from './held.js';
import { favicon } from './icons.js';
import { action_of_key } from './keys.js';
import { open_line } from './line.js';
import { load_wasm } from './policy.js';
import { title, word } from './sayings.js';
import { keep_single_letter_keys, single_letter_keys } from './settings.js';
import { history_step, sorts_again, update } from './update.js';
import { footer, help, saved_moment } from './view-help.js';
import { horizon, next, what_if } from './view-horizon.js';
import { arranged, table } from './view-table.js';
import { banner, header } from './view-top.js';
import { Views, view_of_file } from './views.js';

/** Browsers allow six streams per origin, and a hidden tab needs none. */
const SLEEP_AFTER_MS = 60_000;
/** How long a button says what became of its click. */
const NOTE_MS = 2000;
/** How soon a snapshot that could not be had is asked for again. */
const RETRY_MS = 2000;
/** A saved snapshot beyond this is not one that a daemon wrote. */
const FILE_BYTES = 256 * 1024 * 1024;
const MEASURES_KEPT = 100;

const origin = daemon_origin();

/** @type {State} */
let state = {
  view: read_address(location.search), trial: undefined,
  board: null, judged: null, what_if: null, wasm: 'loading',
  line: new_line(), phase: 'starting', beat: null, since_unix: null, trouble: '',
  paused: false, held: false, shown: [], moved: 0, page: 0,
  help: false, keys: single_letter_keys(), field: null, bad_field: false, note: '',
  saved: '', hosted: is_a_copy(), origin,
};
/** The address that Back leads to, while a movement replaces the one shown. */
let settled = location.href;
/** What the address had of each view last. @type {Partial<Record<State['view']['view'], Record<string, string>>>} */
const left = {};
let drawing = false;
/** The rules' own reader of horizons, once they run. @type {((text: string) => number|null)|null} */
let reader = null;
/** Rows take their places at the next drawing, whatever holds them. */
let sort_now = true;

/** What was wanted at the last drawing: the same list while nothing changed. @type {string[]} */
let arranged_last = [];

/** @type {ReturnType<typeof mount>|null} */
let draw_page = null;

const follower = new Follower(origin, {
  installed(app) {
    if (state.saved === '') {
      measure(app.now_unix_ms);
      state.line = { ...state.line, heard_ms: local_ms() };
    }
    state.trouble = '';
    state.since_unix = app.readiness.since_unix;
    state.judged = null;
    draw_soon();
  },
  changed: draw_soon,
  beat(beat) {
    measure(beat.now_unix_ms);
    state.beat = beat;
    state.line = heard(state.line, local_ms());
    draw_soon();
  },
  failed() {
    state.line = failed(state.line);
    draw_soon();
  },
  trouble(text) {
    if (!state.board) state.trouble = `The daemon cannot be asked: ${text}.`;
    later(RETRY_MS, () => {
      if (state.saved === '' && !state.line.asleep) void follower.refresh();
    });
    draw_soon();
  },
});
const line = origin === null ? null : open_line(origin, (message) => {
  if (state.saved === '') follower.hear(message);
});

const views = new Views({
  origin, draw_soon, read_horizon,
  query: () => own_query(location.search),
  show(name, query, step) {
    // One that is no longer open writes what it will be opened with.
    if (name === state.view.view) show(with_query(location.search, query), step);
    else left[name] = query;
  },
});

/** @param {App|null} app the snapshot that the first verdict was drawn from */
export function start(app) {
  if (origin === null) state.trouble = 'This copy of the page has no daemon of its own: add ?daemon=https://… to its address, or open a saved /app.';
  if (app) follower.install(app);
  else void follower.refresh();
  line?.listen(true);
  load_wasm().then((wasm) => {
    follower.use(wasm);
    state.wasm = 'running';
    reader = wasm.readHorizon;
  }).catch(() => {
    follower.go_without();
    state.wasm = 'failed';
    draw_soon();
  });
  every_second((jumped) => {
    if (jumped) wake();
    draw_soon();
  });
  listen_to_the_window();
  remember();
  if (state.view.view !== 'live') views.came(state.view.view);
  draw();
}

function draw_soon() {
  if (drawing) return;
  drawing = true;
  // A hidden tab draws no frames, but its title is what people see of it.
  if (document.hidden) later(0, draw);
  else requestAnimationFrame(draw);
}

function draw() {
  drawing = false;
  performance.mark('greenlight-draw-start');
  const time = judge();
  arrange();
  const saved = state.saved !== '';
  draw_page ??= mount(/** @type {Element} */ (document.getElementById('page')), act);
  const { view } = state.view;
  draw_page([
    header(state, time),
    ...(view === 'live'
      ? [banner(state, time), ...(saved ? [saved_moment(state, time)] : []), horizon(state), what_if(state), next(state, time), table(state, time)]
      : views.draw(view, state, time)),
    footer(state, time), help(state),
  ]);
  showDialog('help', state.help);
  writeHead({ title: title(state, time), icon: favicon(word(state)), scheme: word(state) });
  // For benchmarks, and for whoever finds this page slow. Kept by the browser only until the next.
  performance.measure('greenlight-draw', 'greenlight-draw-start');
  performance.clearMarks('greenlight-draw-start');
  if (performance.getEntriesByName('greenlight-draw').length > MEASURES_KEPT) performance.clearMeasures('greenlight-draw');
}

/** Judges the board at this moment, or, where the present is not known, at the last moment that was. @returns {Time} */
function judge() {
  const saved = state.saved !== '';
  state.phase = saved ? 'saved' : origin === null ? 'nothing' : phase(state.line, local_ms());
  state.board = follower.board;
  const now = moment_of_judgement();
  const was = state.judged;
  state.judged = follower.judge(now, undefined);
  const { judged } = state;
  if (was && judged && was.ready !== judged.ready) state.since_unix = saved ? null : judged.now;
  const trial = read_horizon(state.view.stale_after);
  const own = state.board?.app.readiness.stale_after_secs;
  state.trial = trial === own ? undefined : trial;
  state.what_if = state.trial === undefined || !is_known(state.phase) || state.wasm !== 'running' ? null : follower.judge(now, trial);
  return { now: judged?.now ?? Math.floor(now), zone: zone_minutes(now), local_ms: local_ms(), skew_ms: skew_ms() };
}

/** @param {string} text @returns {import('../types/page').StaleAfter} */
function read_horizon(text) {
  if (text === '' || !reader) return undefined;
  try {
    return reader(text.trim().toLowerCase());
  } catch {
    return undefined;
  }
}

function moment_of_judgement() {
  if (state.saved !== '') return state.view.at ?? state.board?.app.now_unix ?? 0;
  if (is_known(state.phase) || state.line.heard_ms === null) return now_ms() / 1000;
  return (state.line.heard_ms + skew_ms()) / 1000;
}

/** Rows keep their places while somebody reads or aims at them; new ones wait at the end. */
function arrange() {
  const wanted = arranged(state);
  if (sort_now || !(state.paused || state.held)) {
    state.shown = wanted;
    state.moved = 0;
  } else if (wanted !== arranged_last) {
    const there = new Set(wanted);
    const kept = state.shown.filter((name) => there.has(name));
    const known = new Set(kept);
    state.shown = [...kept, ...wanted.filter((name) => !known.has(name))];
    state.moved = state.shown.reduce((moved, name, at) => moved + (name === wanted[at] ? 0 : 1), 0);
  }
  arranged_last = wanted;
  sort_now = false;
}

/** @param {unknown[]} action @param {Event} [event] */
function act(action, event) {
  const { view } = state.view;
  if (view !== 'live' && (action[0] === 'past' || (action[0] === 'escape' && !state.help))) {
    views.act(view, action[0] === 'past' ? action.slice(1) : action, event);
    return;
  }
  if (action[0] === 'view') {
    // The link itself is for a new tab.
    if (event instanceof MouseEvent && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event?.preventDefault();
    go_to(/** @type {State['view']['view']} */ (action[1]));
    return;
  }
  const field = event?.target;
  const before = state.view;
  state = update(state, action, text_of(field), read_horizon);
  if (sorts_again(action)) sort_now = true;
  if (state.view !== before) show_address(history_step(action));
  effect(action, field);
  draw_soon();
}

/** What stands in the field that was used, or in that of a form. @param {EventTarget|null|undefined} used */
function text_of(used) {
  const field = used instanceof HTMLFormElement ? used.elements[0] : used;
  return field instanceof HTMLInputElement ? field.value : '';
}

/** @param {unknown[]} action @param {EventTarget|null|undefined} field */
function effect([name, value], field) {
  if (name === 'focus') focusOn(String(value));
  if (name === 'copy') void copy_link();
  if (name === 'pick') pick_file();
  if (name === 'live') go_live();
  if (name === 'keys' && field instanceof HTMLInputElement) {
    state.keys = field.checked;
    keep_single_letter_keys(state.keys);
  }
}

function remember() {
  left[state.view.view] = Object.fromEntries(own_query(location.search));
}

/** Another view has the address that it was left with; of this one stay the daemon and the horizon, where both have one. @param {State['view']['view']} name */
function go_to(name) {
  /** @type {Record<string, string>} */
  const query = { ...left[name], view: name === 'live' ? '' : name };
  if (name !== 'rehearsal' && state.view.view !== 'rehearsal') query.stale_after = left[state.view.view]?.stale_after ?? '';
  const search = with_query(location.search, query);
  state.view = read_address(search);
  show(search, 'push');
  if (name !== 'live') views.came(name);
  draw_soon();
}

/** @param {'push'|'replace'} step */
function show_address(step) {
  show(write_address(state.view, location.search), step);
}

/** @param {string} search @param {'push'|'replace'} step */
function show(search, step) {
  const href = location.pathname + search + location.hash;
  if (step === 'replace') {
    history.replaceState(null, '', href);
  } else {
    history.replaceState(null, '', settled);
    if (new URL(href, location.href).href !== new URL(settled, location.href).href) history.pushState(null, '', href);
    settled = location.href;
  }
  remember();
}

async function copy_link() {
  try {
    await navigator.clipboard.writeText(location.href);
    state.note = 'Copied';
  } catch {
    state.note = 'Copy it from the address bar';
  }
  draw_soon();
  later(NOTE_MS, () => {
    state.note = '';
    draw_soon();
  });
}

function pick_file() {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '.json,.jsonl,application/json';
  input.addEventListener('change', () => void open_file(input.files?.[0]));
  input.click();
}

/** @param {File|undefined} file */
async function open_file(file) {
  if (!file) return;
  // What is nobody's is refused by the view that is open, which says why.
  const name = await view_of_file(file) ?? state.view.view;
  if (name !== 'live') {
    if (state.view.view !== name) go_to(name);
    (await views.open(name))?.open_file(file);
    return;
  }
  try {
    if (state.view.view !== 'live') go_to('live');
    if (file.size > FILE_BYTES) throw new Error('this file is too big for an /app snapshot');
    const app = read_saved(await file.text());
    const were = state.saved;
    state.saved = file.name;
    try {
      follower.install(app);
    } catch (error) {
      state.saved = were;
      throw error;
    }
    line?.listen(false);
    state.view = { ...state.view, at: null };
    state.beat = null;
    sort_now = true;
    show_address('replace');
  } catch (error) {
    state.note = error instanceof Error ? error.message : 'This file cannot be read';
    later(NOTE_MS * 2, () => {
      state.note = '';
      draw_soon();
    });
  }
  draw_soon();
}

function go_live() {
  state = { ...state, saved: '', judged: null, view: { ...state.view, at: null }, line: new_line() };
  show_address('push');
  line?.listen(true);
  void follower.refresh();
}

/** A tab that was away knows nothing of the meantime until the daemon has spoken. */
function wake() {
  if (state.saved !== '' || origin === null) return;
  state.line = doubted(state.line, local_ms());
  line?.listen(true);
  void follower.refresh();
  draw_soon();
}

function sleep() {
  if (state.saved !== '') return;
  line?.listen(false);
  state.line = { ...state.line, asleep: true };
  draw_soon();
}

function listen_to_the_window() {
  let hidden_at = 0;
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      hidden_at = local_ms();
      later(SLEEP_AFTER_MS, () => {
        if (document.hidden && local_ms() - hidden_at >= SLEEP_AFTER_MS) sleep();
      });
    } else {
      wake();
    }
  });
  window.addEventListener('pagehide', () => line?.listen(false));
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) wake();
  });
  window.addEventListener('popstate', () => {
    state.view = read_address(location.search);
    state.field = null;
    settled = location.href;
    remember();
    sort_now = true;
    if (state.view.view !== 'live') views.came(state.view.view);
    draw_soon();
  });
  document.addEventListener('keydown', (event) => {
    const at = event.target;
    const typing = at instanceof HTMLInputElement && at.type !== 'checkbox' && at.type !== 'range';
    const action = action_of_key(event, typing, state.keys);
    if (!action) return;
    if (event.key !== 'Escape') event.preventDefault();
    act(action);
  });
  for (const type of TELLING) document.addEventListener(type, (event) => {
    state.held = is_held(event);
  });
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    void open_file(event.dataTransfer?.files[0]);
  });
}
