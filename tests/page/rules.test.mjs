// No rule is written in the page's own files: as far as a text can be asked, they weigh no stamp against a horizon, name
// no standing of their own, and get their judgements from one place.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { root } from './site.mjs';

const folder = `${root}/web/static`;
/** What the rules are about: to compare one of these by size is to judge. */
const WEIGHED = /\b(good_until_unix|last_change_unix|last_green|serving_sha|stale_after(_secs)?|idle_secs|since_unix|ages_out_unix)\b/;
const STANDING = /'(serving|live_degraded|stale_degraded|never_green)'/;

/** Each line of the page's modules without its comments. */
const lines = readdirSync(folder).filter((name) => name.endsWith('.js')).flatMap((name) => {
  const code = readFileSync(`${folder}/${name}`, 'utf8').replace(/\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/(^|\s)\/\/.*$/gm, '$1');
  return code.split('\n').map((text, at) => ({ name, text, where: `${name}:${at + 1}: ${text.trim()}` }));
});

test('no file weighs a stamp, a green or a horizon', () => {
  const weighing = lines.filter(({ text }) => WEIGHED.test(text) && /[<>]/.test(text.replaceAll('=>', '')));
  assert.deepEqual(weighing.map(({ where }) => where), []);
});

test('no file gives a row a standing: it only asks which one the policy gave', () => {
  const given = lines.filter(({ text }) => STANDING.test(text.replace(new RegExp(`(case|[!=]==) ${STANDING.source}`, 'g'), '')));
  assert.deepEqual(given.map(({ where }) => where), []);
});

test('one file asks the policy', () => {
  const asking = new Set(lines.filter(({ text }) => text.includes('greenlight_wasm')).map(({ name }) => name));
  assert.deepEqual([...asking], ['policy.js']);
  const of_the_past = new Set(lines.filter(({ text }) => /import\(.*greenlight_past/.test(text)).map(({ name }) => name));
  assert.deepEqual([...of_the_past], ['past.js']);
});

test('one file loads what replays the past', () => {
  const loading = new Set(lines.filter(({ text }) => text.includes('greenlight_past')).map(({ name }) => name));
  assert.deepEqual([...loading], ['past.js']);
});

test('one file reads the clock, and one writes the document', () => {
  const files = (pattern) => [...new Set(lines.filter(({ text }) => pattern.test(text)).map(({ name }) => name))];
  assert.deepEqual(files(/Date\.now|new Date\(\)|performance\.now/), ['clock.js']);
  assert.deepEqual(files(/\.(textContent|innerText|innerHTML|outerHTML) *=|insertAdjacentHTML|\.(append|appendChild|insertBefore|setAttribute)\(/), ['dom.js']);
  assert.deepEqual(files(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/), []);
});

test('every sheet closes what it opens', () => {
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.css'))) {
    const sheet = readFileSync(`${folder}/${name}`, 'utf8');
    assert.equal(sheet.split('{').length, sheet.split('}').length, name);
  }
});
