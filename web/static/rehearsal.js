// The Rehearsal view: holds what is shown of a record, and does what actions ask for.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */
/** @typedef {import('../types/rehearsal').Known} Known */
/** @typedef {import('../types/rehearsal').Policy} Policy */
/** @typedef {import('../types/rehearsal').Replayed} Replayed */
/** @typedef {import('../types/rehearsal').Shown} Shown */

import { later, local_ms } from './clock.js';
import { h } from './dom.js';
import { share } from './lanes.js';
import { load_past } from './past.js';
import { picture } from './rehearsal-draw.js';
import { RECORD_BYTES, TOO_BIG, fetched } from './rehearsal-fetch.js';
import { keyed } from './rehearsal-keys.js';
import { cells, controls, grid, key, result } from './rehearsal-policy.js';
import { is_same, read_record, replayed } from './rehearsal-record.js';
import { MISSES_SHOWN, MORE_SHOWN, misses, sums, times_twin, twin, verdict } from './rehearsal-words.js';
import { visible } from './words.js';

/** For so long the grid is replayed in one go. */
const AT_ONCE_MS = 30;

/** @type {Policy} */
const NONE = { silences: 0, timeout_ms: 0, joins: 0, hold: false };
/** @type {Replayed} */
const NOTHING = { leaves: 0, nobody: 0, unknown: 0, holds_until: NaN, shifts: [], untold: [] };

/** @param {Host} host @returns {LaterView} */
export function open(host) {
  /** @type {Shown} */
  const shown = {
    record: null, name: '', refusal: '', partly: false, loading: false, policy: NONE, tries: false, recorded: NOTHING, trial: NOTHING,
    at_us: null, from_us: 0, to_us: 1, grid: new Map(),
  };
  /** Where the record came from; '' for a file. */
  let address = '';
  let reading = 0;
  let many = MISSES_SHOWN;
  /** Where the pointer is; null: not over the picture. @type {number|null} */
  let hover = null;

  /** @param {string} name @param {() => Promise<string>} text */
  async function read(name, text) {
    const mine = ++reading;
    Object.assign(shown, { name, loading: true, refusal: '' });
    host.draw_soon();
    /** @type {{known: Known|null, refusal: string}} */
    let got = { known: null, refusal: '' };
    try {
      const [past, whole] = await Promise.all([load_past(), text()]);
      got = await read_record(past, whole, () => new Promise((go_on) => later(0, () => go_on(null))));
    } catch (error) {
      got.refusal = error instanceof Error ? error.message : String(error);
    }
    if (mine !== reading) {
      got.known?.roll.free();
      return;
    }
    shown.record?.roll.free();
    many = MISSES_SHOWN;
    hover = null;
    const record = got.known;
    Object.assign(shown, { record, refusal: got.refusal, partly: false, loading: false, grid: new Map(), from_us: record?.from_us ?? 0, to_us: record?.to_us ?? 1 });
    if (record) shown.recorded = replayed(record, record.recorded);
    from_address();
    host.draw_soon();
  }

  /** Takes policy and cursor from the address. */
  function from_address() {
    const { record } = shown;
    if (!record) return;
    const query = host.query();
    /** @param {string} name @param {number} most @param {number} own */
    const number = (name, most, own) => {
      const told = query.get(name) ?? '';
      return /^\d{1,7}$/.test(told) && Number(told) >= 1 && Number(told) <= most ? Number(told) : own;
    };
    const { recorded } = record;
    const hold = query.get('hold');
    use({
      silences: number('silences', 1000, recorded.silences), timeout_ms: number('timeout_ms', 60_000, recorded.timeout_ms),
      joins: number('joins', 1000, recorded.joins), hold: hold === null ? recorded.hold : hold === '1',
    });
    const at = query.get('at_us') ?? '';
    shown.at_us = /^-?\d{1,15}$/.test(at) ? within(Number(at)) : null;
  }

  /** @param {Policy} policy */
  function use(policy) {
    const record = /** @type {Known} */ (shown.record);
    if (policy.joins !== shown.policy.joins || policy.hold !== shown.policy.hold || shown.grid.size === 0) shown.grid = new Map();
    shown.policy = policy;
    shown.tries = !is_same(policy, record.recorded);
    shown.trial = shown.tries ? replayed(record, policy) : shown.recorded;
    fill(shown.grid);
  }

  /** Replays the cells that are not there yet, a few at a time. @param {Shown['grid']} into */
  function fill(into) {
    const { record, policy } = shown;
    // Another one has taken its place meanwhile.
    if (!record || into !== shown.grid) return;
    const until = local_ms() + AT_ONCE_MS;
    for (const silences of cells(record).silences) {
      for (const timeout_ms of cells(record).timeouts) {
        const trial = { ...policy, silences, timeout_ms };
        if (into.has(key(trial))) continue;
        if (local_ms() > until) {
          later(0, () => fill(into));
          host.draw_soon();
          return;
        }
        into.set(key(trial), { ...replayed(record, trial), shifts: [], untold: [] });
      }
    }
    host.draw_soon();
  }

  /** @param {'push'|'replace'} step */
  function show(step) {
    const { policy, record } = shown;
    const { recorded } = record ?? { recorded: policy };
    /** @param {unknown} value @param {unknown} own */
    const unless = (value, own) => (value === own ? '' : String(Number(value)));
    host.show({
      record: address, silences: unless(policy.silences, recorded.silences), timeout_ms: unless(policy.timeout_ms, recorded.timeout_ms),
      joins: unless(policy.joins, recorded.joins), hold: unless(policy.hold, recorded.hold), at_us: shown.at_us === null ? '' : String(shown.at_us),
    }, step);
    host.draw_soon();
  }

  /** @param {number} at_us */
  function within(at_us) {
    return Math.round(Math.min(Math.max(at_us, shown.record?.from_us ?? 0), shown.record?.to_us ?? 0));
  }

  /** Where the cursor is when nobody has put it anywhere: where something happened. */
  function moment() {
    const { record } = shown;
    return hover ?? shown.at_us ?? within(record?.misses[0]?.due_us ?? record?.by.sigterm?.[0]?.at_us ?? 0);
  }

  /** @param {number} at_us @param {'push'|'replace'} step */
  function go(at_us, step) {
    shown.at_us = within(at_us);
    hover = null;
    const wide = shown.to_us - shown.from_us;
    if (shown.at_us < shown.from_us || shown.at_us > shown.to_us) look_at(shown.at_us, wide);
    show(step);
  }

  /** @param {number} at_us @param {number} wide */
  function look_at(at_us, wide) {
    const record = /** @type {Known} */ (shown.record);
    const whole = record.to_us - record.from_us;
    const width = Math.min(Math.max(wide, 1000), whole);
    shown.from_us = Math.min(Math.max(at_us - width / 2, record.from_us), record.to_us - width);
    shown.to_us = shown.from_us + width;
  }

  /** @param {Event|undefined} event */
  function pointed(event) {
    const along = share(event);
    return along === null ? null : within(shown.from_us + along * (shown.to_us - shown.from_us));
  }

  /** @param {unknown[]} action @param {Event|undefined} event */
  function act([name, value, ...rest], event) {
    const { record } = shown;
    if (!record) return;
    if (name === 'policy') {
      use({ ...shown.policy, .../** @type {Partial<Policy>} */ (value) });
      show(/** @type {'push'|'replace'} */ (rest[0]));
    } else if (name === 'field' && event?.target instanceof HTMLInputElement) {
      const number = Math.round(event.target.valueAsNumber);
      if (number >= 1 && number <= 3000) act(['policy', { [String(value)]: number }, ...rest], event);
    } else if (name === 'hold') {
      act(['policy', { hold: !shown.policy.hold }, 'push'], event);
    } else if (name === 'recorded' || (name === 'escape' && shown.tries)) {
      act(['policy', record.recorded, 'push'], event);
    } else if (name === 'partly') {
      shown.partly = true;
    } else if (name === 'more') {
      many += MORE_SHOWN;
    } else if (name === 'at') {
      go(Number(value), 'push');
    } else if (name === 'zoom') {
      look_at(moment(), (shown.to_us - shown.from_us) * Number(value));
    } else if (name === 'point') {
      const at_us = pointed(event);
      if (event?.type === 'click' && at_us !== null) go(at_us, 'push');
      else hover = at_us;
    } else if (name === 'leave') {
      hover = null;
    } else if (name === 'key' && event instanceof KeyboardEvent && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const at_us = keyed(event, record, moment(), shown.to_us - shown.from_us);
      if (at_us !== null) {
        event.preventDefault();
        go(at_us, 'replace');
      }
    }
    host.draw_soon();
  }

  function draw() {
    const { record, refusal, name } = shown;
    const is_seen = record !== null && (refusal === '' || shown.partly) && !shown.loading;
    return [
      h('section', { key: 'record', class: 'past roll-head', 'aria-label': 'Record' },
        h(is_seen ? 'h2' : 'h1', null, 'Rehearsal'), name !== '' && h('span', { class: 'roll-file' }, visible(name)), shown.loading && h('span', { role: 'status' }, 'Reading…'),
        h('button', { type: 'button', on: { click: ['pick'] } }, 'Open a record…')),
      refusal === '' ? h('div', { key: 'refusal', class: 'nothing' }) : h('section', { key: 'refusal', class: 'roll-refusal', role: 'alert' },
        h('p', null, h('strong', null, shown.partly ? 'This is only a part. ' : 'Refused. '), `${visible(refusal)}.`),
        record !== null && !shown.partly && h('button', { type: 'button', on: { click: ['past', 'partly'] } }, 'Show what was readable before')),
      ...(is_seen ? [
        verdict(record), sums(record), controls(shown), result(shown), picture(shown, moment()),
        h('section', { key: 'twin' }, twin(shown), times_twin(shown)), misses(shown, many), grid(shown),
      ] : []),
      record === null && refusal === '' && !shown.loading ? empty() : h('div', { key: 'empty', class: 'nothing' }),
    ];
  }

  return {
    draw, act,
    open_file(file) {
      address = '';
      Object.assign(shown, { policy: NONE, at_us: null, grid: new Map() });
      host.show({}, 'push');
      void read(file.name, async () => {
        if (file.size > RECORD_BYTES) throw new Error(TOO_BIG);
        return file.text();
      });
    },
    came() {
      const named = host.query().get('record') ?? '';
      if (named === address) {
        from_address();
      } else if (named !== '') {
        address = named;
        shown.grid = new Map();
        void read(named, () => fetched(named));
      } else {
        address = '';
        reading += 1;
        shown.record?.roll.free();
        Object.assign(shown, { record: null, name: '', refusal: '', loading: false });
      }
    },
  };
}

function empty() {
  return h('section', { key: 'empty', class: 'roll-empty' },
    h('p', null, 'A record is everything that one rehearsal of a roll asked and was answered: a file of JSON lines. Open one, drop it here, or name one in the address (?view=rehearsal&record=…). It is read in this browser and goes nowhere.'),
    h('pre', null, 'greenlight rehearse --old \'./server-v1 --port {port}\' \\\n  --new \'./server-v2 --port {port}\' --record roll.jsonl'));
}
