// What the tests of the page share: a daemon for each test, and where things stand on the page.

import { test as base, expect } from '@playwright/test';

import { Daemon, degraded, serving } from './daemon.mjs';

export { degraded, expect, serving };

export const test = base.extend({
  daemon: async ({}, use) => {
    const daemon = await Daemon.start();
    await use(daemon);
    await daemon.end();
  },
  page: async ({ page }, use) => {
    const errors = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      // A daemon that was killed is heard of here too.
      if (message.type() === 'error' && !/ERR_|NetworkError|Failed to load resource|can’t establish|was interrupted|CORS/.test(message.text())) errors.push(message.text());
    });
    await use(page);
    expect(errors).toEqual([]);
  },
});

export const banner = (page) => page.locator('[data-verdict]:not(html)');
export const row = (page, name) => page.locator(`[data-instance=${JSON.stringify(name)}]`);
export const what_if = (page) => page.locator('[data-what-if]');

export async function expect_verdict(page, verdict) {
  await expect(banner(page)).toHaveAttribute('data-verdict', verdict);
}

/** A machine that builds at the same time starts a browser slowly; how soon the page is there is the benchmark's affair. */
const START_MS = 30_000;

/** Opens the page and waits until it judges by itself. */
export async function open(page, url, path = '/') {
  await page.goto(url + path);
  await expect(page.getByLabel('Horizon', { exact: true })).toBeEnabled({ timeout: START_MS });
}

/** Whether nothing is wider than the window. */
export const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

export const names = (page) => page.locator('[data-instance]').evaluateAll((rows) => rows.map((row) => row.dataset.instance));

/** Opens a saved /app by the page's own picker. */
export async function save(page, app, name = 'saved.json') {
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open saved…' }).click();
  await (await chosen).setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(typeof app === 'string' ? app : JSON.stringify(app)) });
}
