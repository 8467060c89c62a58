// Pictures of the page for eyes to judge, and the one in the README: `tests/page/run screenshots DIR [NAME]`.

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

import { chromium } from '@playwright/test';

import { Daemon, degraded, serving } from './daemon.mjs';
import { story } from './past.mjs';

const folder = resolve(process.argv[2] ?? '../.work/screenshots');
const wanted = process.argv[3];
mkdirSync(folder, { recursive: true });
const DAY = 86_400;

/** The board of the README. */
const STORY = [
  serving('dev', { idle_secs: 240 }),
  degraded('lane', { idle_secs: 1140, last_red_files: ['ci/lane.rs'], pending_sha: 'beef123' }),
  degraded('merge', { phase: 'idle', last_green: '77ab012', last_red_reason: 'exited 1: linker ran out of memory', idle_secs: 41 * DAY }),
  serving('preview/login', { idle_secs: 5400, serving_sha: '0d9f3aa', last_green: '0d9f3aa' }),
  { name: 'feature-x', phase: 'queued' },
];
const HOSTILE = [
  serving('dev'),
  degraded('<img/src=x>', { phase: '<b>bold</b>', last_red_reason: '<script>alert(1)</script>' }),
  degraded('bidi', { last_red_reason: 'abc \u202Egnp.exe\u202C and \u2066isolated\u2069', phase: '\u202Egnivres' }),
  degraded('long', { last_red_reason: 'x'.repeat(16 * 1024), phase: 'y'.repeat(1024), last_green: 'z'.repeat(1024) }),
  degraded('n'.repeat(253)),
  degraded('🚦-emoji-🚀', { last_red_reason: '🔥'.repeat(500) }),
  { name: 'quarantined', phase: 'quarantined' },
];
const MANY = Array.from({ length: 5000 }, (_, at) => (at % 3 === 0 ? degraded : serving)(`slot-${at}`, { idle_secs: (at * 7919) % 20_000 }));

const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 }, narrow: { width: 320, height: 640 } };
const SHOTS = [
  { name: 'story', rows: STORY, query: '/' },
  { name: 'what-if', rows: STORY, query: '/?stale_after=15m' },
  { name: 'details', rows: STORY, query: '/?open=lane' },
  { name: 'hostile', rows: HOSTILE, query: '/' },
  { name: 'many', rows: MANY, query: '/' },
  { name: 'nothing', rows: [], query: '/' },
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' });
const daemon = await Daemon.start();
// So that there is a moment since when it is not ready.
await daemon.publish('driver', [serving('dev')]);
for (const { name, rows, query } of SHOTS) {
  if (wanted !== undefined && name !== wanted) continue;
  await daemon.publish('driver', rows, 900);
  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    const page = await browser.newPage({ colorScheme, timezoneId: 'Europe/Berlin' });
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      await page.goto(daemon.url + query);
      await page.waitForFunction(() => document.querySelector('.slider')?.disabled === false);
      await page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png`, fullPage: name !== 'many' && size !== 'desktop' });
    }
    if (name === 'story') {
      await page.setViewportSize(SIZES.desktop);
      await page.getByRole('button', { name: 'Keyboard help' }).click();
      await page.screenshot({ path: `${folder}/help-desktop-${colorScheme}.png` });
    }
    await page.close();
  }
}
for (const colorScheme of wanted === undefined || wanted === 'history' ? /** @type {const} */ (['light', 'dark']) : []) {
  const page = await browser.newPage({ colorScheme, timezoneId: 'Europe/Berlin' });
  await page.goto(`${daemon.url}/?view=history`);
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open saved…' }).click();
  await (await chosen).setFiles({ name: 'incident.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(story(1_785_740_400)) });
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    await page.getByRole('slider', { name: 'Moment' }).waitFor();
    await page.screenshot({ path: `${folder}/history-plain-${size}-${colorScheme}.png`, fullPage: true });
    await page.getByRole('button', { name: '15m' }).click();
    await page.getByRole('slider', { name: 'Moment' }).click({ position: { x: viewport.width * 0.55, y: 20 } });
    await page.mouse.move(0, 0);
    await page.screenshot({ path: `${folder}/history-what-if-${size}-${colorScheme}.png`, fullPage: true });
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
  }
  await page.close();
}
const last = await browser.newPage({ timezoneId: 'Europe/Berlin', viewport: SIZES.desktop });
await daemon.publish('driver', STORY);
await last.goto(daemon.url);
await last.waitForFunction(() => document.querySelector('.slider')?.disabled === false);
await daemon.kill();
await last.locator('[data-verdict=unknown].banner').waitFor();
await last.screenshot({ path: `${folder}/unknown-desktop-light.png` });
await browser.close();
await daemon.end();
