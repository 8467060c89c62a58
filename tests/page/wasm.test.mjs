// What the wasm takes and refuses: bad input is an Error that says what and where, and nothing traps.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shipped_wasm } from './site.mjs';

const MOST = Number.MAX_SAFE_INTEGER;
const wasm = await shipped_wasm();

function row(changes = {}) {
  return { name: 'dev', serving_sha: 'a1', last_green: 'a1', source: 'driver', last_change_unix: 100, last_report_unix: 100, good_for_secs: 600, good_until_unix: 700, ...changes };
}

function app(changes = {}) {
  return { instances: [row(), row({ name: 'lane', serving_sha: null })], readiness: { stale_after_secs: 3600 }, started_unix: 0, ...changes };
}

test('no moment and no horizon traps', () => {
  for (const stamp of [0, 1, 3600, MOST - 1, MOST]) {
    const snapshot = new wasm.Snapshot(app({ instances: [row({ last_change_unix: stamp, good_until_unix: stamp }), row({ name: 'x', last_change_unix: stamp, serving_sha: null })] }));
    for (const now of [-Infinity, -1, -0, 0, 0.5, 3600, MOST, 2 ** 53, 2 ** 64, 1e300, Infinity]) {
      for (const horizon of [undefined, null, 0, 1, 3600, MOST]) {
        snapshot.verdict(now, horizon);
        snapshot.flips(now, horizon);
        snapshot.order(now, horizon);
        snapshot.ages_out(now, horizon);
        snapshot.since(now);
      }
    }
  }
});

test('what is no moment or no horizon is an Error that says so', () => {
  const snapshot = new wasm.Snapshot(app());
  assert.throws(() => snapshot.verdict(NaN), (error) => error instanceof Error && /now is not a number/.test(error.message));
  for (const horizon of ['15m', -1, 0.5, 2 ** 53, NaN, {}, true]) assert.throws(() => snapshot.verdict(0, horizon), /stale_after is .*whole seconds/, String(horizon));
});

test('a field that is wrong is named with its place', () => {
  const cases = [
    [row({ name: 7 }), /app\.instances\[1\]\.name is 7, the name of an instance is wanted/],
    [row({ name: 'a b' }), /app\.instances\[1\]\.name is "a b"/],
    [row({ last_change_unix: 1.5 }), /app\.instances\[1\]\.last_change_unix is 1\.5, whole Unix seconds is wanted/],
    [row({ last_change_unix: undefined }), /last_change_unix is missing/],
    [row({ good_for_secs: 'soon' }), /good_for_secs is "soon", a number of seconds/],
    [row({ good_for_secs: 0 }), /good_for_secs is 0/],
    [row({ good_until_unix: '700' }), /good_until_unix is "700", whole Unix seconds or null/],
    [row({ serving_sha: 5 }), /serving_sha is 5, a text or null/],
    [7, /app\.instances\[1\] is 7, an object/],
  ];
  for (const [bad, message] of cases) assert.throws(() => new wasm.Snapshot(app({ instances: [row({ name: 'first' }), bad] })), message);
  assert.throws(() => new wasm.Snapshot(null), /app is null, an object/);
  assert.throws(() => new wasm.Snapshot({ instances: 3 }), /app\.instances is not a list/);
  assert.throws(() => new wasm.Snapshot(app({ readiness: { stale_after_secs: -5 } })), /app\.readiness\.stale_after_secs is -5/);
});

test('an event that is refused changes nothing', () => {
  const snapshot = new wasm.Snapshot(app());
  const before = JSON.stringify(snapshot.verdict(200));
  assert.throws(() => snapshot.apply({ rows: [row({ name: 'new' }), row({ source: '' })], removed: ['dev'] }), /change\.rows\[1\]\.source/);
  assert.throws(() => snapshot.apply({ sources: [{ source: 'driver' }], rows: [] }), /renew\.sources\[0\]/);
  assert.equal(JSON.stringify(snapshot.verdict(200)), before);
});

test('a horizon is read as people write it', () => {
  assert.deepEqual(['15m', '1h30m', '90', 'never', '0'].map((text) => wasm.readHorizon(text)), [900, 5400, 90, null, 0]);
  for (const text of ['', 'soon', '1x', '-5m', '99999999999999999w']) assert.throws(() => wasm.readHorizon(text), /a horizon is .*, or never/);
});

test('it says which version it is', () => assert.match(wasm.version(), /^\d+\.\d+\.\d+$/));
