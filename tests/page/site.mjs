// The page as `greenlight page --out` writes it, and the wasm in it, for tests without a browser.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
export const binary = process.env.GREENLIGHT ?? `${root}/target/debug/greenlight`;
const folder = `${root}/tests/.work/site`;

let written = false;

/** The folder with the site, written anew once for each run. */
export function site() {
  if (!written) execFileSync(binary, ['page', '--out', folder]);
  written = true;
  const index = readFileSync(`${folder}/index.html`, 'utf8');
  const [, hash] = /assets\/([0-9a-f]+)\/first\.js/.exec(index) ?? [];
  return { folder, index, assets: `${folder}/assets/${hash}`, names: readdirSync(`${folder}/assets/${hash}`) };
}

/** The very wasm that the page loads, with the very glue. */
export function shipped_wasm() {
  return load(site().assets);
}

/** What replays the past, as the page loads it. */
export async function past_wasm() {
  return (await shipped_past()).past;
}

/** The very wasm that the views of the past load, and the page's own reader of records on it. */
export async function shipped_past() {
  const { assets } = site();
  const past = await import(`${assets}/greenlight_past.js`);
  past.initSync({ module: readFileSync(`${assets}/greenlight_past_bg.wasm`) });
  return { past, ...(await import(`${assets}/rehearsal-record.js`)) };
}

/** The same rules with the player of scenarios. */
export function scenario_wasm() {
  return load(`${root}/target/page-wasm/scenario`);
}

/** @param {string} from */
async function load(from) {
  const wasm = await import(`${from}/greenlight_wasm.js`);
  wasm.initSync({ module: readFileSync(`${from}/greenlight_wasm_bg.wasm`) });
  return wasm;
}
