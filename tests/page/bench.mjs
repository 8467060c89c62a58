// The page's benchmarks: printed, never asserted. On a release build: `tests/page/run bench`.

import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from '@playwright/test';

import { Daemon, degraded, serving } from './daemon.mjs';
import { binary, root, shipped_wasm } from './site.mjs';

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const worst = (list) => Math.max(...list);
const show = (what, list, goal) => console.log(`${what}: median ${median(list).toFixed(1)} ms, worst of ${list.length} ${worst(list).toFixed(1)} ms (goal ${goal} ms)`);
const rows = (count) => Array.from({ length: count }, (_, at) => (at % 3 === 0 ? degraded : serving)(`slot-${at}`, { last_green: at % 7 === 0 ? null : 'a1b2c3d', serving_sha: at % 3 === 0 ? null : 'a1b2c3d', idle_secs: (at * 7919) % 20_000 }));

async function ratio() {
  const wasm = await shipped_wasm();
  const app = { started_unix: 0, readiness: { stale_after_secs: 3600 }, instances: rows(10_000).map((row) => ({ ...row, source: 'driver', last_change_unix: 100_000 - row.idle_secs, last_report_unix: 100_000, good_for_secs: 900, good_until_unix: 100_900 })) };
  const snapshot = new wasm.Snapshot(app);
  // Pair by pair, for the machine's load is another one a second later.
  const pairs = [];
  for (let pair = 0; pair < 7; pair++) {
    const native = Number(execFileSync(`${root}/target/release/examples/judging_speed`, { encoding: 'utf8' })) / 1e6;
    const times = [];
    for (let round = 0; round < 200; round++) {
      const start = process.hrtime.bigint();
      snapshot.standings(100_000 + round);
      snapshot.glance(100_000 + round);
      snapshot.order(100_000 + round);
      snapshot.flips(100_000 + round);
      times.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    pairs.push({ native, wasm: median(times), times: median(times) / native });
  }
  const each = (what) => median(pairs.map((pair) => pair[what])).toFixed(2);
  console.log(`10,000 rows judged anew: native ${each('native')} ms, wasm ${each('wasm')} ms: ${each('times')} times in the median of ${pairs.length} pairs (goal 2)`);
}

async function to_the_pixel(browser) {
  const daemon = await Daemon.start();
  await daemon.publish('driver', [serving('dev')]);
  const page = await browser.newPage();
  await page.goto(daemon.url);
  await page.waitForFunction(() => document.querySelector('.slider')?.disabled === false);
  const times = [];
  for (let round = 0; round < 30; round++) {
    const verdict = round % 2 === 0 ? 'not_ready' : 'ready';
    // In the frame after the one in which the banner changed, it has been painted.
    const seen = page.evaluate((wanted) => new Promise((done) => {
      const look = () => (document.querySelector('.banner').dataset.verdict === wanted ? requestAnimationFrame(() => done(Date.now())) : requestAnimationFrame(look));
      look();
    }), verdict);
    const start = Date.now();
    await daemon.publish('driver', verdict === 'ready' ? [serving('dev')] : [serving('dev'), degraded('lane')]);
    times.push((await seen) - start);
  }
  show('a publish to the pixel', times, 250);
  await page.close();
  await daemon.end();
}

async function big(browser, count, throttle) {
  const daemon = await Daemon.start();
  await daemon.publish('driver', rows(count));
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
  const name = `${count.toLocaleString('en')} rows, processor throttled ${throttle} times`;
  await page.goto(daemon.url, { waitUntil: 'commit' });
  await page.waitForFunction(() => performance.getEntriesByName('greenlight-first-verdict').length > 0, null, { timeout: 120_000 });
  const first = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done([performance.getEntriesByName('greenlight-first-verdict')[0].startTime, performance.getEntriesByType('paint').at(-1)?.startTime ?? 0])))));
  await page.waitForFunction(() => document.querySelector('.slider')?.disabled === false, null, { timeout: 120_000 });
  console.log(`${name}: first verdict at ${first[0].toFixed(0)} ms, last paint entry ${first[1].toFixed(0)} ms (goal 1000), what-if possible at ${(await page.evaluate(() => performance.now())).toFixed(0)} ms`);
  const work = () => page.evaluate(() => performance.getEntriesByName('greenlight-draw').map((entry) => entry.duration));
  const clear = () => page.evaluate(() => performance.clearMeasures('greenlight-draw'));
  const slider = page.locator('.slider');
  await clear();
  for (let step = 0; step < 10; step++) {
    await slider.evaluate((element, value) => {
      element.value = value;
      element.dispatchEvent(new Event('input', { bubbles: true }));
    }, 60 + step * 7);
    await page.waitForFunction((wanted) => performance.getEntriesByName('greenlight-draw').length > wanted, step);
  }
  show(`${name}: a what-if step`, await work(), 50);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('.what-if'));
  await clear();
  await page.waitForFunction(() => performance.getEntriesByName('greenlight-draw').length > 8, null, { timeout: 60_000 });
  show(`${name}: a second’s tick`, await work(), 8);
  console.log(`${name}: ${await page.locator('*').count()} elements in the document`);
  await page.close();
  await daemon.end();
}

/** A week of so many events, from the daemon to the picture, and under other horizons. */
async function week(browser, events, instances) {
  const data = mkdtempSync(join(tmpdir(), 'greenlight-week-'));
  execFileSync(`${root}/target/release/examples/filled_store`, [data, events, instances, 7 * 86_400].map(String));
  const daemon = new Daemon();
  Object.assign(daemon, { flags: [], data });
  await daemon.run('127.0.0.1:0');
  const name = `a week of ${events.toLocaleString('en')} events of ${instances} instances`;
  const firsts = [];
  const page = await browser.newPage();
  for (let round = 0; round < 5; round++) {
    // From the Live view, as people come: the page itself is there.
    await page.goto(`${daemon.url}/`);
    await page.waitForFunction(() => document.querySelector('.slider')?.disabled === false);
    firsts.push(await page.evaluate(() => new Promise((done) => {
      const start = performance.now();
      history.pushState(null, '', '?view=history&from=-8d');
      window.dispatchEvent(new PopStateEvent('popstate'));
      const look = () => (document.querySelector('.past-own path') ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look));
      look();
    })));
  }
  show(`${name}: first picture`, firsts, 1000);
  const times = [];
  for (const chip of ['15m', '4h', '30m', 'never', '24h', '15m', '4h']) {
    times.push(await page.evaluate((label) => new Promise((done) => {
      const button = [...document.querySelectorAll('[aria-label="What if"] .chip')].find((element) => element.textContent.startsWith(label));
      const start = performance.now();
      button.click();
      const look = () => (document.querySelector('.past-what-if .past-label')?.textContent.includes(label) ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look));
      look();
    }), chip));
  }
  show(`${name}: another horizon`, times, 100);
  const replays = await page.evaluate(() => performance.getEntriesByName('greenlight-replay').map((entry) => entry.duration));
  console.log(`${name}: of which replaying took ${median(replays).toFixed(0)} ms; ${await page.locator('*').count()} elements in the document`);
  await page.close();
  await daemon.end();
}

console.log(`of ${binary}`);
await ratio();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' });
await to_the_pixel(browser);
await week(browser, 100_000, 40);
await week(browser, 100_000, 500);
await big(browser, 5000, 1);
await big(browser, 5000, 6);
await big(browser, 100_000, 1);
await browser.close();
