// What a browser loads before the first verdict, and in all, gzipped.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { site } from './site.mjs';

const BEFORE_THE_VERDICT_BYTES = 40_000;
/** Where the page is to come to. It is not there yet, so that it is told and not asserted. */
const IN_ALL_GOAL_BYTES = 75_000;

test('the page weighs what it may', () => {
  const { index, assets, names } = site();
  const size = (bytes) => gzipSync(bytes, { level: 9 }).length;
  // Whatever the index itself names: sheets, the first module, and all preloads.
  const first = new Set([...index.matchAll(/"assets\/[0-9a-f]+\/([^"]+)"/g)].map(([, name]) => name));
  // And whatever those import at once.
  for (const name of first) {
    if (name.endsWith('.js')) for (const [, other] of readFileSync(`${assets}/${name}`, 'utf8').matchAll(/\bimport\b[^;(]*?from\s*[\"']\.\/([^\"']+)[\"']/g)) first.add(other);
  }
  const weights = names.map((name) => ({ name, bytes: size(readFileSync(`${assets}/${name}`)), when: first.has(name) ? 'first' : 'later' }));
  weights.push({ name: 'index.html', bytes: size(index), when: 'first' });
  weights.sort((a, b) => b.bytes - a.bytes);
  for (const { name, bytes, when } of weights) console.log(`${String(bytes).padStart(7)}  ${when.padEnd(6)} ${name}`);
  const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
  const before = sum(weights.filter(({ when }) => when === 'first'));
  console.log(`${before} bytes before the first verdict (at most ${BEFORE_THE_VERDICT_BYTES}), ${sum(weights)} in all (goal ${IN_ALL_GOAL_BYTES})`);
  assert.ok(first.has('greenlight_wasm_bg.wasm') && first.has('dom.js'));
  assert.ok(before <= BEFORE_THE_VERDICT_BYTES, `${before} bytes before the first verdict`);
  // What only a view that is opened needs must not come before.
  assert.ok(!weights.some(({ name, when }) => when === 'first' && /past|history|rehearsal|lanes/.test(name)));
});
