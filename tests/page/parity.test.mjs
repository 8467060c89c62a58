// One policy: what the page's wasm makes of a board is what the rules make of it natively, to the byte.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { root, scenario_wasm, shipped_wasm } from './site.mjs';

const BOARDS = 10_000;
const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 40));
const scenarios = readdirSync(`${root}/tests/scenarios`).filter((name) => name.endsWith('.json')).map((name) => `${root}/tests/scenarios/${name}`);

/** @param {string[]} args */
function native(args) {
  const text = execFileSync(`${root}/target/debug/examples/judged_boards`, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  return text.trimEnd().split('\n').map((line) => JSON.parse(line));
}

/** Asks everything that a snapshot can be asked. */
function by_wasm(wasm, snapshot, now, stale_after) {
  const words = wasm.standingWords();
  const glance = snapshot.glance(now, stale_after);
  const verdict = snapshot.verdict(now, stale_after);
  assert.deepEqual([glance.ready, glance.reason, glance.text], [verdict.ready, verdict.reason, verdict.text]);
  assert.deepEqual(snapshot.flips(now, stale_after), verdict.flips);
  return {
    verdict,
    blocking: glance.blocking,
    standings: Array.from(snapshot.standings(now, stale_after), (number) => words[number]),
    unconfirmed: Array.from(snapshot.unconfirmed(now)),
    since: Array.from(snapshot.since(now)),
    ages_out: Array.from(snapshot.ages_out(now, stale_after), (at) => (Number.isNaN(at) ? null : at)),
    order: Array.from(snapshot.order(now, stale_after)),
  };
}

/** The same bytes, whatever order the fields were written in. */
function bytes(value) {
  return JSON.stringify(value, (_, inner) => (inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner));
}

function check(wasm, line, where) {
  const snapshot = new wasm.Snapshot(line.app);
  for (const event of line.events) snapshot.apply(event);
  // Floored; near the end of time a number has no room for one.
  const fraction = line.now < 2 ** 40 ? 0.75 : 0;
  assert.equal(bytes(by_wasm(wasm, snapshot, line.now)), bytes(line.own), where);
  assert.equal(bytes(by_wasm(wasm, snapshot, line.now + fraction, line.stale_after)), bytes(line.what_if), where);
  snapshot.free();
}

test(`${BOARDS} generated boards, seed ${seed}`, async () => {
  const wasm = await shipped_wasm();
  const lines = native([seed, String(BOARDS)]);
  assert.equal(lines.length, BOARDS);
  lines.forEach((line, at) => check(wasm, line, `seed ${seed}, board ${at}`));
  console.log(`${lines.length} boards from seed ${seed}: ${lines.filter((line) => line.own.verdict.ready).length} ready, ${lines.filter((line) => line.events.length > 0).length} with events, ${lines.filter((line) => line.own.verdict.flips.length > 0).length} with flips`);
});

test('every scenario, at each of its expectations', async () => {
  const wasm = await shipped_wasm();
  const lines = native(scenarios);
  assert.ok(lines.length > 50, `${lines.length} expectations`);
  lines.forEach((line, at) => check(wasm, line, `expectation ${at}`));
  console.log(`${scenarios.length} scenario files, ${lines.length} expectations`);
});

test('every scenario holds when the wasm plays it', async () => {
  const wasm = await scenario_wasm();
  for (const file of scenarios) assert.deepEqual(wasm.playScenario(JSON.parse(readFileSync(file, 'utf8'))), [], file);
  const broken = { scenario: 'x', steps: [{ at: 0, expect: { ready: true } }] };
  assert.deepEqual(wasm.playScenario(broken), [{ step: 1, at: 0, what: 'ready', expected: 'true', got: 'false' }]);
  assert.throws(() => wasm.playScenario({ steps: 3 }), /not a scenario/);
});
