// Records of real rolls for the tests of the Rehearsal view, and how one is opened there.

import { readFileSync } from 'node:fs';

import { expect } from './pages.mjs';
import { root } from './site.mjs';

/** @param {string} name */
export function record_file(name) {
  return `${root}/tests/records/${name}.jsonl`;
}

/** @param {string} name */
export function record_text(name) {
  return readFileSync(record_file(name), 'utf8');
}

/** Opens the view. A machine that builds at the same time starts a browser slowly. */
export async function rehearsal(page, url, query = '') {
  await page.goto(`${url}/?view=rehearsal${query}`);
  await expect(page.getByRole('button', { name: 'Open a record…' })).toBeVisible({ timeout: 30_000 });
}

/** Opens one of ours by its name, or any text, by the view's own picker. */
export async function open_record(page, record) {
  const { name, text } = typeof record === 'string' ? { name: `${record}.jsonl`, text: record_text(record) } : record;
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open a record…' }).click();
  await (await chosen).setFiles({ name, mimeType: 'application/jsonl', buffer: Buffer.from(text) });
  await expect(page.locator('.roll-svg, .roll-refusal').first()).toBeVisible({ timeout: 30_000 });
}
