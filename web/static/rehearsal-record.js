// A record of a rehearsal as the page holds it: the parsed lines by kind, and beside them what core makes of them.

/** @typedef {import('./greenlight_past.js').Roll} Roll */
/** @typedef {typeof import('./greenlight_past.js')} Past */
/** @typedef {import('../types/rehearsal').Line} Line */
/** @typedef {import('../types/rehearsal').Known} Known */
/** @typedef {import('../types/rehearsal').Policy} Policy */
/** @typedef {import('../types/rehearsal').Replayed} Replayed */

import { crossing } from './rehearsal-lines.js';

/** The order in which core hands over its sums. */
const SUMS = ['silences', 'timeout_us', 'joins', 'hold', 'exit', 'ticks', 'lost', 'missed', 'drain_margin_us', 'reopened', 'longest_gap_us', 'end_us',
  'late_ticks', 'late_p99_us', 'late_max_us', 'without_outcome', 'late_probes', 'late_probe_max_us', 'late_answers', 'faults', 'self_connects', 'control', 'control_failed', 'control_max_us'];
const CLASSES = 10;
const DOINGS = 8;
/** So many lines are read in one go: the page stays alive in between. */
const LINES_AT_ONCE = 20_000;

/**
 * @param {Past} past @param {string} text @param {() => Promise<unknown>} pause
 * @returns {Promise<{known: Known|null, refusal: string}>}
 */
export async function read_record(past, text, pause) {
  const roll = new past.Roll();
  /** @type {Record<string, Line[]>} */
  const by = {};
  let refusal = '';
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (let at = 0; at < lines.length; at++) {
    const { line, bytes, numbers, name, text: words } = crossing(lines[at]);
    // The first line is first asked whose it is.
    refusal = roll.take(bytes, new Float64Array(numbers), at === 0 ? schema(line) : name, words) ?? '';
    if (refusal !== '') break;
    (by[line.event] ??= []).push(line);
    if (at % LINES_AT_ONCE === LINES_AT_ONCE - 1) await pause();
  }
  const missing = roll.close();
  return { known: known(roll, by), refusal: refusal || missing || '' };
}

/** @param {Line} line @returns {string|undefined} */
function schema(line) {
  return typeof line?.schema === 'string' ? line.schema : undefined;
}

/** @param {Roll} roll @param {Record<string, Line[]>} by @returns {Known|null} null: not even a header was read */
function known(roll, by) {
  const numbers = Array.from(roll.sums());
  if (numbers.length === 0) return null;
  /** @type {string[]} */
  const words = [];
  for (let word = roll.word(0); word !== undefined; word = roll.word(words.length)) words.push(word);
  /** @param {number} count */
  const take = (count) => numbers.splice(0, count);
  const taken = take(SUMS.length);
  const sums = Object.fromEntries(SUMS.map((name, at) => [name, taken[at]]));
  const classes = words.splice(0, CLASSES);
  const doings = words.splice(0, DOINGS);
  const lanes = [0, 1, 2].map(() => {
    const [all, lost] = take(2);
    const counts = take(CLASSES);
    return { all, lost, of: Object.fromEntries(classes.map((name, at) => [name, counts[at]])) };
  });
  const moves = by.move ?? [];
  const causes = moves.map((_, at) => roll.cause(at) ?? '');
  /** @type {Known['processes']} */
  const processes = by.header[0].processes.map((/** @type {Line} */ planned) => {
    const [pid, sigterms, drain_us, killed, count] = take(5);
    const turns = Array.from({ length: count }, () => {
      const [at_us, doing] = take(2);
      return { at_us, doing: doings[doing] };
    });
    const name = planned.name;
    const ended = by.exited?.find((one) => one.process === name);
    return { name, command: planned.command, pid, sigterms, drain_us, killed: killed === 1, exit: ended?.exit ?? '', turns };
  });
  const [outcome, why, ...findings] = words;
  const ticks = (by.tick ?? []).sort((a, b) => a.tick - b.tick);
  const from_us = [...(by.started ?? []), ...(by.probe ?? [])].reduce((least, line) => Math.min(least, line.due_us ?? line.at_us), 0);
  return {
    roll, by, sums, lanes, processes, outcome, why, findings, causes, ticks,
    misses: ticks.filter((tick) => tick.class !== 'ok'),
    doings, from_us, to_us: Math.max(sums.end_us, 1),
    recorded: { silences: sums.silences, timeout_ms: sums.timeout_us / 1000, joins: sums.joins, hold: sums.hold === 1 },
  };
}

/** @param {Known} record @param {Policy} policy @returns {Replayed} */
export function replayed({ roll, processes }, { silences, timeout_ms, joins, hold }) {
  // 32.3 times a thousand is not quite 32300.
  const numbers = roll.replay(silences, Math.round(timeout_ms * 1000), joins, hold);
  const [leaves, nobody, unknown, holds_until, count] = numbers;
  const shifts = processes.map(() => /** @type {{at_us: number, to: number}[]} */ ([]));
  let at = 5;
  for (const end = at + count * 3; at < end; at += 3) shifts[numbers[at + 1]].push({ at_us: numbers[at], to: numbers[at + 2] });
  const untold = [];
  for (; at < numbers.length; at += 2) untold.push({ at_us: numbers[at], unknown: numbers[at + 1] === 1 });
  return { leaves, nobody, unknown, holds_until, shifts, untold };
}

/** The last of a list in order of time that had happened by then. @template T @param {T[]} list @param {number} at_us @param {(one: T) => number} moment @returns {T|undefined} */
export function last_by(list, at_us, moment) {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (moment(list[middle]) <= at_us) from = middle + 1;
    else to = middle;
  }
  return list[from - 1];
}

/** What a process was doing, as core has its turns. @param {Known} record @param {Known['processes'][0]} process @param {number} at_us */
export function doing_at(record, process, at_us) {
  return last_by(process.turns, at_us, (turn) => turn.at_us)?.doing ?? record.doings[0];
}

/**
 * What took how long, in order of length, by spans of one width.
 * @param {Line[]} list @param {number} from_us @param {number} to_us @param {number} count @param {(one: Line) => number|null} took @returns {number[][]}
 */
export function columns(list, from_us, to_us, count, took) {
  /** @type {number[][]} */
  const all = Array.from({ length: count }, () => []);
  for (const one of list) {
    const us = took(one);
    if (us !== null) all[Math.floor(((one.due_us - from_us) / (to_us - from_us)) * count)]?.push(us);
  }
  return all.map((some) => some.sort((a, b) => a - b));
}

/** From when it was due. null: nobody was asked. @param {Line} tick */
export function answer_time(tick) {
  return tick.process ? tick.end_us - tick.due_us : null;
}

export const MEMBERSHIP = ['out', 'in', 'unknown'];

/** Where a replay has a process. @param {{at_us: number, to: number}[]} shifts @param {number} at_us */
export function place_at(shifts, at_us) {
  return last_by(shifts, at_us, (shift) => shift.at_us)?.to ?? 0;
}

/** @param {Policy} a @param {Policy} b */
export function is_same(a, b) {
  return a.silences === b.silences && a.timeout_ms === b.timeout_ms && a.joins === b.joins && a.hold === b.hold;
}
