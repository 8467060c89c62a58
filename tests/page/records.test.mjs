// One reading of a record: what the page's wasm makes of it is what the rules make of it natively, to the byte.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { root, shipped_past } from './site.mjs';
import { text_of } from '../../web/static/rehearsal-fetch.js';
import { keyed } from '../../web/static/rehearsal-keys.js';

const RECORDS = 200;
const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 40));
const folder = `${root}/tests/records`;
const files = readdirSync(folder).map((name) => `${folder}/${name}`);

/** @param {string[]} args */
function native(args) {
  const text = execFileSync(`${root}/target/debug/examples/replayed_records`, args, { encoding: 'utf8', maxBuffer: 2 ** 31 - 1 });
  return text.trimEnd().split('\n').map((line) => JSON.parse(line));
}

/** The same bytes, whatever order the fields were written in. */
function bytes(value) {
  return JSON.stringify(value, (_, inner) => (inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner));
}

const or_null = (number) => (Number.isNaN(number) ? null : number);

/** What the page knows of a record, in the words of `--json`. What-ifs are compared by themselves. */
function account(known, doing_at) {
  const { sums, lanes, by, processes, causes } = known;
  const states = (at_us) => Object.fromEntries(processes.map((process) => [process.name, doing_at(known, process, at_us).replaceAll(' ', '_').replace('told_to_stop', 'told')]));
  const [all, fresh, kept] = lanes;
  const fitness = Object.fromEntries(['late_ticks', 'late_p99_us', 'late_max_us', 'without_outcome', 'late_probes', 'late_probe_max_us', 'late_answers', 'faults', 'self_connects', 'control', 'control_failed', 'control_max_us'].map((name) => [name, sums[name]]));
  return {
    schema: by.header[0].schema, outcome: known.outcome, exit: sums.exit, why: known.why, findings: known.findings, ticks: sums.ticks, totals: all.of,
    expected_status: by.expected?.at(-1)?.status ?? null, lost: sums.lost, missed: sums.missed, drain_margin_us: or_null(sums.drain_margin_us), reopened: sums.reopened, lanes: { fresh: fresh.of, kept: kept.of },
    longest_gap_us: sums.longest_gap_us, fitness: { ...fitness, ...by.header[0].machine },
    processes: processes.map(({ name, command, pid, sigterms, exit, drain_us, killed }) => ({
      name, command, pid: or_null(pid), sigterms, exit: exit === '' ? null : exit, drain_us: or_null(drain_us), killed, last_words: by.last_words?.find((line) => line.process === name)?.text ?? null,
    })),
    rotation: (by.move ?? []).map((line, at) => ({ at_us: line.at_us, process: line.process, move: line.move, cause: causes[at] })),
    misses: known.misses.map((tick) => ({
      tick: tick.tick, due_us: tick.due_us, end_us: tick.end_us, process: tick.process, class: tick.class, status: tick.status, error: tick.error, lane: tick.lane,
      connection: tick.connection, uses: tick.uses, reused: tick.uses > 1, states_due: states(tick.due_us), states_end: states(tick.end_us),
    })),
  };
}

function replay_in_full({ replayed }, known, asked) {
  const told = replayed(known, { silences: asked.silences, timeout_ms: asked.timeout_us / 1000, joins: asked.joins, hold: asked.hold });
  const shifts = told.shifts.flatMap((all, process) => all.map(({ at_us, to }) => [at_us, process, to]));
  return {
    silences: asked.silences, timeout_us: asked.timeout_us, joins: asked.joins, hold: asked.hold, leaves: told.leaves, nobody: told.nobody, unknown: told.unknown,
    holds_until_us: or_null(told.holds_until), shifts, untold: told.untold.map(({ at_us, unknown }) => [at_us, unknown]),
  };
}

/** The page keeps shifts by process. */
function by_process(replay) {
  return { ...replay, shifts: replay.shifts.map((shift, at) => [at, shift]).sort(([i, a], [j, b]) => a[1] - b[1] || i - j).map(([, shift]) => shift) };
}

async function check(page, line, where) {
  const { known, refusal } = await page.read_record(page.past, `${line.lines.join('\n')}\n`, async () => {});
  const in_words = (text) => (text ?? '').replace(/(no event of a record: ).*/, '$1');
  assert.equal(in_words(refusal), in_words(line.refusal), where);
  assert.equal(known === null, line.account === null, where);
  if (known === null) return;
  const { what_if, ...expected } = line.account;
  assert.equal(bytes(account(known, page.doing_at)), bytes(expected), where);
  assert.equal(bytes(known.processes.map(({ turns }) => turns.map(({ at_us, doing }) => [at_us, doing]))), bytes(line.turns), where);
  for (const replay of line.replays) assert.equal(bytes(replay_in_full(page, known, replay)), bytes(by_process(replay)), where);
  for (const { silences_to_leave, ...told } of what_if) {
    const { leaves, nobody, unknown, holds_until } = page.replayed(known, { ...known.recorded, silences: silences_to_leave });
    assert.deepEqual({ leaves, nobody, unknown, holds_until_us: or_null(holds_until) }, told, where);
  }
  // A line told twice need not be refused, but the moves no longer follow from the probes.
  if (!line.damaged) replays_itself(page, known, line, where);
  known.roll.free();
}

/** Under the recorded policy the recorded moves, and no others. */
function replays_itself(page, known, line, where) {
  const { shifts } = page.replayed(known, known.recorded);
  const recorded = known.processes.map(({ name }) => line.recorded.filter(([, process]) => process === name).map(([at_us, , move]) => ({ at_us, to: move === 'join' ? 1 : 0 })));
  assert.deepEqual(shifts, recorded, where);
}

test(`${files.length} records of real rolls`, async () => {
  const page = await shipped_past();
  const lines = native(files);
  assert.ok(lines.every(({ refusal }) => refusal === null));
  for (const [at, line] of lines.entries()) await check(page, line, files[at]);
});

test(`${RECORDS} generated records, some of them damaged, seed ${seed}`, async () => {
  const page = await shipped_past();
  const lines = native([seed, String(RECORDS)]);
  assert.equal(lines.length, RECORDS);
  for (const [at, line] of lines.entries()) await check(page, line, `seed ${seed}, record ${at}`);
  const outcomes = new Map();
  for (const { account } of lines) if (account) outcomes.set(account.outcome, (outcomes.get(account.outcome) ?? 0) + 1);
  console.log(`${RECORDS} records from seed ${seed}: ${lines.filter(({ refusal }) => refusal).length} refused, ${[...outcomes].map(([word, count]) => `${count} ${word}`).join(', ')}`);
});

test('a real record cut after any line is refused with its number, and what stood before is read', async () => {
  const page = await shipped_past();
  const lines = readFileSync(files[0], 'utf8').trimEnd().split('\n');
  for (let count = 0; count < lines.length; count++) {
    const { known, refusal } = await page.read_record(page.past, lines.slice(0, count).map((line) => `${line}\n`).join(''), async () => {});
    assert.match(refusal, new RegExp(`^line ${count + 1}: `));
    assert.equal(known === null, count === 0);
    known?.roll.free();
  }
});

test('a line with a value of another kind is refused by its field', async () => {
  const page = await shipped_past();
  const lines = readFileSync(files[0], 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((line) => line.includes('"event":"probe"'));
  for (const [from, to, words] of [['"late_us":0', '"late_us":"0"', /late_us is "0"/], ['"at_us":', '"was_us":', /at_us is missing/], ['"kind":"', '"kind":"un', /kind is "un/], ['"probe"', '"proben"', /event is "proben"/], ['{', '[', /no event of a record: /]]) {
    const { refusal } = await page.read_record(page.past, lines.with(at, lines[at].replace(from, to)).join('\n'), async () => {});
    assert.match(refusal, new RegExp(`^line ${at + 1}: no event of a record: `));
    assert.match(refusal, words);
  }
});

test('a timeout comes back as the microseconds that it was', async () => {
  const page = await shipped_past();
  let told = 0;
  const roll = { replay: (_silences, timeout_us) => ((told = timeout_us), [0, 0, 0, NaN, 0]) };
  for (let us = 1; us <= 60_000_000; us += us < 200_000 ? 1 : 9973) {
    page.replayed({ roll, processes: [] }, { silences: 1, timeout_ms: us / 1000, joins: 1, hold: false });
    assert.equal(told, us);
  }
});

test('the pages of the cursor go from event to event, however many there are', () => {
  const misses = Array.from({ length: 300_000 }, (_, at) => ({ due_us: at * 1000 }));
  const record = { misses, by: { move: [{ at_us: 500 }], killed: [{ at_us: 299_999_500 }] }, from_us: -7, to_us: 300_000_000 };
  const to = (key, at) => keyed({ key, shiftKey: false }, record, at, 250_000);
  assert.deepEqual([to('PageDown', -7), to('PageDown', 0), to('PageDown', 500), to('PageDown', 299_999_500)], [0, 500, 1000, 300_000_000]);
  assert.deepEqual([to('PageUp', 300_000_000), to('PageUp', 1000), to('PageUp', 500), to('PageUp', 0)], [299_999_500, 500, 0, -7]);
  assert.deepEqual([to('ArrowLeft', 5000), to('ArrowRight', 5000), to('Home', 5), to('End', 5), to('x', 5)], [4000, 6000, -7, 300_000_000, null]);
});

test('of a record that an address names no more is read than a record may have', async () => {
  const body = (...chunks) => new ReadableStream({ start: (put) => (chunks.forEach((chunk) => put.enqueue(Uint8Array.from(chunk))), put.close()) });
  // A letter of three bytes, cut in two.
  assert.equal(await text_of(body([0x61, 0xe2], [0x82, 0xac], []), 4), 'a€');
  await assert.rejects(text_of(body([1, 2], [3, 4], [5]), 4), /too big for a record/);
  let asked = 0;
  const endless = new ReadableStream({ pull: (put) => (asked++, put.enqueue(new Uint8Array(1000))) });
  await assert.rejects(text_of(endless, 10_000), /too big/);
  assert.ok(asked < 20);
});
