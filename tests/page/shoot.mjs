import { chromium } from '@playwright/test';
import { Daemon } from './daemon.mjs';
const [,, out, record, query = '', size = '1280x900', scheme = 'light'] = process.argv;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium' });
const daemon = await Daemon.start();
const [width, height] = size.split('x').map(Number);
const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height } });
page.on('console', (m) => console.log(m.text())); page.on('pageerror', (e) => console.log('ERR', e.message));
await page.goto(`${daemon.url}/?view=rehearsal${query}`);
await page.getByRole('button', { name: 'Open a record…' }).waitFor();
if (record) {
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open a record…' }).click();
  await (await chosen).setFiles(record);
  await page.locator('.roll-picture, .roll-refusal').first().waitFor();
  if (query) { await page.evaluate((q) => { history.replaceState(null, '', `?view=rehearsal${q}`); dispatchEvent(new PopStateEvent('popstate')); }, query); }
  await page.waitForTimeout(600);
}
await page.screenshot({ path: out, fullPage: true });
await browser.close(); await daemon.end();
