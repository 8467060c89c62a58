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
export function past_wasm() {
  return load(site().assets, 'greenlight_past');
}

/** The same rules with the player of scenarios. */
export function scenario_wasm() {
  return load(`${root}/target/page-wasm/scenario`);
}

/** @param {string} from @param {string} [name] */
async function load(from, name = 'greenlight_wasm') {
  const wasm = await import(`${from}/${name}.js`);
  wasm.initSync({ module: readFileSync(`${from}/${name}_bg.wasm`) });
  return wasm;
}
