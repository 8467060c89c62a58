// The History view against the real daemon, and with exports from disk: windows, what-ifs, the cursor, tables, refusals.

import { copyFileSync, readFileSync } from 'node:fs';

import { Daemon, degraded, serving } from './daemon.mjs';
import { expect, test as base } from './pages.mjs';
import { HOUR, changed, exported, row, story } from './past.mjs';
import { open_record, record_file, rehearsal } from './records.mjs';
import { site } from './site.mjs';
import { Static } from './static.mjs';

const test = base;
const FROM = 1_785_740_400;
const START_MS = 30_000;

const slider = (page) => page.getByRole('slider', { name: 'Moment' });
const said = (page) => page.getByRole('region', { name: 'At the cursor' });
const sums = (page) => page.getByRole('region', { name: 'Sums' });
const labels = (page) => page.locator('.past-instance .past-label-name').allTextContents();
const query = (page) => Object.fromEntries(new URL(page.url()).searchParams);

async function open_history(page, url, more = '') {
  await page.goto(`${url}/?view=history${more}`);
  await expect(slider(page)).toBeVisible({ timeout: START_MS });
  await expect(page.getByLabel('Horizon', { exact: true })).toBeEnabled({ timeout: START_MS });
}

async function open_file(page, url, text, name = 'incident.jsonl') {
  await page.goto(`${url}/?view=history`);
  await expect(page.getByRole('button', { name: 'Show', exact: true })).toBeVisible({ timeout: START_MS });
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open saved…' }).click();
  await (await chosen).setFiles({ name, mimeType: 'application/jsonl', buffer: Buffer.from(text) });
}

/** A daemon on which `lane` broke after it had served. */
async function eventful(daemon) {
  await daemon.publish('driver', [serving('dev'), serving('lane')]);
  await daemon.publish('driver', [serving('dev'), degraded('lane'), degraded('merge', { idle_secs: 100_000 })]);
}

test('a window of the daemon is shown: presets, the own horizon, who is to blame, and the sums add up to it', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url);
  await expect(page.getByRole('button', { name: '24h', exact: true }).first()).toHaveAttribute('aria-pressed', 'true');
  await expect(sums(page)).toContainText('1h (the daemon’s)');
  expect(await labels(page)).toEqual(['lane', 'merge', 'dev']);
  await page.getByRole('button', { name: '1h', exact: true }).first().click();
  await expect(sums(page)).toContainText(/ 1 h( 1 s)?: /);
  expect(query(page)).toEqual({ view: 'history', from: '-1h' });
  await expect(slider(page)).toBeVisible();
  await slider(page).press('End');
  await expect(said(page)).toContainText('Not ready: lane under 1 hour');
  await expect(said(page).locator('[data-standing=live_degraded]')).toContainText('lane');
  await expect(said(page).locator('[data-standing=stale_degraded]')).toContainText('merge');
  await slider(page).press('Home');
  await expect(said(page)).toContainText('Not watched');
});

test('what happens later moves no window until it is asked for', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url, '&from=-1h');
  const events = async () => Number(/([\d,]+) events?/.exec(await sums(page).textContent())[1].replace(',', ''));
  const before = await events();
  await daemon.publish('driver', [serving('dev'), serving('lane'), degraded('merge')]);
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  await expect.poll(events).toBeGreaterThan(before);
  await slider(page).press('End');
  await expect(said(page).locator('[data-standing=serving]')).toHaveCount(2);
});

test('a what-if has a lane, marks where it differs, and its sums beside the daemon’s', async ({ page, daemon }) => {
  await open_file(page, daemon.url, story(FROM));
  await expect(slider(page)).toBeVisible();
  await expect(page.locator('.past-what-if')).toHaveCount(0);
  await expect(sums(page).locator('tbody tr')).toHaveCount(1);
  await page.getByRole('button', { name: '15m' }).click();
  await expect(page.locator('.past-what-if')).toContainText('What if 15m');
  await expect(page.locator('.past-differs .look-differs')).toHaveCount(1);
  const cells = await sums(page).locator('tbody tr').allTextContents();
  expect(cells[0]).toContain('1h (the daemon’s)');
  expect(cells[1]).toContain('What if 15m');
  expect(cells[0]).not.toEqual(cells[1].replace('What if 15m', '1h (the daemon’s)'));
  expect(query(page)).toMatchObject({ stale_after: '15m' });
  await page.getByLabel('Horizon', { exact: true }).fill('2h30m');
  await page.keyboard.press('Enter');
  await expect(page.locator('.past-what-if')).toContainText('What if 2h30m');
  await page.getByLabel('Horizon', { exact: true }).fill('soon');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('A horizon is 15m');
  await page.keyboard.press('Escape');
  await expect(page.locator('.past-what-if')).toHaveCount(0);
});

test('the cursor goes by keys, from change to change, and says everything in words', async ({ page, daemon }) => {
  await open_file(page, daemon.url, story(FROM));
  await page.getByRole('button', { name: '15m' }).click();
  await slider(page).focus();
  await page.keyboard.press('Home');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM));
  // The break of `lane`, five hours in: each step goes to the next change of any lane shown.
  for (let steps = 0; steps < 20 && Number(await slider(page).getAttribute('aria-valuenow')) < FROM + 5 * HOUR; steps++) await page.keyboard.press('Shift+ArrowRight');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 5 * HOUR));
  await expect(slider(page)).toHaveAttribute('aria-valuetext', /14:00:00 UTC\+2\. Not ready: lane\. What if 15 minutes: Not ready: lane$/);
  await page.keyboard.press('Shift+ArrowRight');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 5 * HOUR + 900));
  await expect(said(page)).toContainText('Not ready: lane under 1 hour');
  await expect(said(page)).toContainText('Ready under 15 minutes');
  await expect(said(page)).toContainText('The horizons differ because of lane.');
  await expect(said(page)).toContainText('would be stale degraded');
  await expect(said(page)).toContainText('0d9f3aa10');
  await page.keyboard.press('Shift+ArrowLeft');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 5 * HOUR));
  await page.keyboard.press('ArrowRight');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 5 * HOUR + 432));
  await page.keyboard.press('PageDown');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 5 * HOUR + 432 - 4320));
  await page.keyboard.press('End');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 24 * HOUR - 1));
  await page.keyboard.press('Escape');
  await expect(said(page)).toContainText('Point at the lanes');
});

test('the cursor goes by pointer: over the lanes it shows, a click keeps it', async ({ page, daemon }) => {
  await open_file(page, daemon.url, story(FROM));
  await expect(slider(page)).toBeVisible();
  const box = await slider(page).boundingBox();
  await page.mouse.move(box.x + (box.width * 16.5) / 24, box.y + 20);
  await expect(said(page)).toContainText('lane');
  await expect(said(page)).toContainText('Not ready');
  await page.mouse.move(5, 5);
  await expect(said(page)).toContainText('Point at the lanes');
  await page.mouse.click(box.x + (box.width * 18) / 24, box.y + 20);
  await page.mouse.move(5, 5);
  await expect(said(page)).toContainText('Stale degraded');
  await expect.poll(() => query(page).at ?? '').toMatch(/^2026-08-04T0[01]:/);
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect(said(page)).toContainText('Point at the lanes');
});

test.describe('by touch', () => {
  test.use({ hasTouch: true });
  test('a tap sets the cursor where it is, in History and in Rehearsal', async ({ page, daemon, browserName }) => {
    // Playwright’s Firefox knows no taps: as there, a click that no move of the pointer came before.
    const tap = async (x, y) => (browserName === 'firefox' ? slider(page).dispatchEvent('click', { clientX: x, clientY: y, detail: 1 }) : page.touchscreen.tap(x, y));
    await open_file(page, daemon.url, story(FROM));
    await expect(slider(page)).toBeVisible();
    const box = await slider(page).boundingBox();
    await tap(box.x + (box.width * 16.5) / 24, box.y + 20);
    await expect(said(page)).toContainText('Not ready: lane');
    await expect(page.getByRole('button', { name: 'Clear' })).toBeVisible();
    await tap(box.x + (box.width * 18) / 24, box.y + 20);
    await expect(said(page)).toContainText('Stale degraded');
    await expect.poll(() => query(page).at ?? '').toMatch(/^2026-08-04T0[01]:/);
    await rehearsal(page, daemon.url);
    await open_record(page, 'exits');
    const picture = await slider(page).boundingBox();
    await tap(picture.x + picture.width * 0.3, picture.y + 20);
    await expect(page).toHaveURL(/at_us=\d{6}(&|$)/);
  });
});

test('masked and unwatched time are drawn as shapes of their own', async ({ page, daemon }) => {
  await open_file(page, daemon.url, story(FROM));
  const lanes = page.locator('.past-instance', { hasText: 'lane' }).first().locator('svg');
  for (const look of ['serving', 'live_degraded', 'stale_degraded', 'not_watching']) await expect(lanes.locator(`.look-${look}`)).toHaveCount(1);
  const shapes = await lanes.locator('path').evaluateAll((paths) => paths.map((path) => path.getAttribute('d').replace(/M\d+ /, 'M ').split('H')[0]));
  expect(new Set(shapes).size).toBe(4);
  await expect(page.locator('.past-own .look-not_watching')).toHaveCount(1);
  await expect(sums(page)).toContainText('29 m 59 s');
});

test('each picture has a table, a page at a time', async ({ page, daemon }) => {
  const events = [[FROM, 'started', { watched_until_unix: null }]];
  for (let at = 0; at < 120; at++) events.push(changed(FROM + 10 * at, 'dev', 0, row(at % 2 === 0 ? 'a1' : null, 'a1')));
  await open_file(page, daemon.url, exported({ from: FROM, to: FROM + 1200, events }));
  const table = page.locator('details', { hasText: 'The verdict as a table' });
  await expect(table).toContainText('120 rows');
  await expect(table.locator('table')).toHaveCount(0);
  await table.locator('summary').click();
  await expect(table.locator('tbody tr')).toHaveCount(50);
  await expect(table.locator('tbody tr').nth(1)).toContainText('Not ready: nothing served; degraded: dev');
  await table.getByRole('button', { name: 'Later rows' }).click();
  await table.getByRole('button', { name: 'Later rows' }).click();
  await expect(table).toContainText('101 to 120 of 120');
  await expect(table.locator('tbody tr')).toHaveCount(20);
  await expect(table.getByRole('button', { name: 'Later rows' })).toBeDisabled();
  await page.locator('summary', { hasText: 'The instances shown' }).click();
  await expect(page.getByRole('region', { name: 'The instances shown as a table' }).locator('tbody tr').first()).toContainText('dev');
});

test('the address is the view, and Back goes back', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url);
  await page.getByRole('button', { name: '7d', exact: true }).click();
  await page.getByRole('button', { name: '15m' }).click();
  await expect(page.locator('.past-what-if')).toBeVisible();
  await slider(page).press('End');
  // A moment stays where it is, and so must the window around it.
  await expect.poll(() => query(page)).toMatchObject({ view: 'history', from: /Z$/, to: /Z$/, stale_after: '15m', at: /Z$/ });
  await expect(page.getByRole('button', { name: '7d', exact: true })).toHaveAttribute('aria-pressed', 'true');
  const other = await page.context().newPage();
  await open_history(other, daemon.url, `&${new URL(page.url()).searchParams}&all=1`);
  await expect(other.locator('.past-what-if')).toBeVisible();
  await expect(said(other)).toContainText('under 1 hour');
  expect(await sums(other).locator('strong').first().textContent()).toBe(await sums(page).locator('strong').first().textContent());
  expect(await slider(other).getAttribute('aria-valuenow')).toBe(await slider(page).getAttribute('aria-valuenow'));
  await other.close();
  await page.goBack();
  await expect(page.locator('.past-what-if')).toHaveCount(0);
  await expect(page.getByRole('button', { name: '7d', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await page.goBack();
  await expect(page.getByRole('button', { name: '24h', exact: true }).first()).toHaveAttribute('aria-pressed', 'true');
  await page.goForward();
  await page.goForward();
  await expect(page.locator('.past-what-if')).toBeVisible();
  await page.getByRole('link', { name: 'Live' }).click();
  await expect(page.locator('.banner')).toBeVisible();
  expect(query(page)).toEqual({ stale_after: '15m' });
});

test('a moment outside the window is told of, not told as if nobody had watched', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url, '&at=2020-08-03T07:00:00Z');
  await expect(said(page)).toContainText('2020-08-03 09:00:00 UTC+2 is outside the window shown');
  await expect(said(page)).not.toContainText('Not watched');
  const value = async (name) => Number(await slider(page).getAttribute(`aria-value${name}`));
  expect(await value('now')).toBe(await value('max'));
  await expect.poll(() => query(page)).toEqual({ view: 'history' });
  await slider(page).press('Home');
  await expect(said(page)).not.toContainText('outside');
});

test('each view is opened again as it was left', async ({ page, daemon }) => {
  await eventful(daemon);
  copyFileSync(record_file('stall'), `${site().folder}/roll.jsonl`);
  const host = await Static.start();
  await page.goto(`${host.url}/?view=rehearsal&record=roll.jsonl&silences=1`);
  await expect(page.locator('[data-outcome]')).toBeVisible({ timeout: START_MS });
  const link = (name) => page.getByRole('link', { name }).click();
  await link('Live');
  await link('Rehearsal');
  expect(query(page)).toEqual({ view: 'rehearsal', record: 'roll.jsonl', silences: '1' });
  await expect(page.locator('[data-outcome]')).toBeVisible();
  await host.end();
  await page.goto(`${daemon.url}/?q=lane`);
  await expect(page.getByLabel('Horizon', { exact: true })).toBeEnabled({ timeout: START_MS });
  await link('History');
  await page.getByRole('button', { name: '7d', exact: true }).click();
  await expect(slider(page)).toBeVisible({ timeout: START_MS });
  await page.getByRole('button', { name: '15m' }).click();
  await slider(page).press('End');
  // At once: what the cursor still has to say is for its own view's address.
  await link('Live');
  await expect(page.getByLabel('Filter')).toHaveValue('lane');
  expect(query(page)).toEqual({ q: 'lane', stale_after: '15m' });
  await page.getByRole('button', { name: /^4h/ }).click();
  await expect(page.locator('[data-what-if]')).toBeVisible();
  expect(query(page)).toEqual({ q: 'lane', stale_after: '4h' });
  await link('History');
  await expect(page.locator('.past-what-if')).toContainText('What if 4h');
  await expect(page.getByRole('button', { name: '7d', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await expect(said(page)).toContainText('under 4 hours');
  expect(query(page)).toMatchObject({ view: 'history', from: /Z$/, to: /Z$/, at: /Z$/, stale_after: '4h' });
  await link('Rehearsal');
  await link('Live');
  expect(query(page)).toEqual({ q: 'lane', stale_after: '4h' });
});

test('a what-if of the address is drawn though the rules come after the window', async ({ page, daemon }) => {
  await eventful(daemon);
  let let_them_come = () => {};
  const asked = new Promise((go_on) => {
    let_them_come = () => go_on(undefined);
  });
  await page.route('**/greenlight_wasm_bg.wasm', async (route) => {
    await asked;
    await route.continue();
  });
  await page.goto(`${daemon.url}/?view=history&stale_after=15m`);
  await expect(slider(page)).toBeVisible({ timeout: START_MS });
  await expect(page.getByLabel('Horizon', { exact: true })).toBeDisabled();
  await expect(page.locator('.past-what-if')).toHaveCount(0);
  let_them_come();
  await expect(page.locator('.past-what-if')).toContainText('What if 15m', { timeout: START_MS });
});

test('any range can be written, as people write moments', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url);
  await page.getByLabel('From', { exact: true }).fill('2026-08-03 14:05');
  await page.getByLabel('To', { exact: true }).fill('2026-08-03T12:35:30Z');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(sums(page)).toContainText('2026-08-03 14:05:00 UTC+2 to 2026-08-03 14:35:30 UTC+2, 30 m 30 s');
  expect(query(page)).toEqual({ view: 'history', from: '2026-08-03T12:05:00Z', to: '2026-08-03T12:35:30Z' });
  await expect(page.getByLabel('From', { exact: true })).toHaveValue('2026-08-03 14:05:00');
  await page.getByLabel('From', { exact: true }).fill('yesterday');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('A moment is');
  await page.getByLabel('From', { exact: true }).fill('-90m');
  await page.getByLabel('To', { exact: true }).fill('now');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(sums(page)).toContainText(/ 1 h 30 m( 1 s)?: /);
});

test('an export is opened offline, and what is saved from here is one', async ({ page, daemon, context }) => {
  await eventful(daemon);
  await open_history(page, daemon.url, '&from=-1h');
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Save this window' }).click();
  const text = readFileSync(await (await download).path(), 'utf8');
  expect(text.split('\n')[0]).toContain('greenlight.history/1');
  await context.setOffline(true);
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open saved…' }).click();
  await (await chosen).setFiles({ name: 'saved.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(text) });
  await expect(sums(page)).toContainText('from saved.jsonl');
  expect(await labels(page)).toEqual(['lane', 'merge', 'dev']);
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Back to the daemon' }).click();
  await expect(sums(page)).not.toContainText('saved.jsonl');
});

test('a window is one within the export that is open, with nobody there too, until somebody goes back to the daemon', async ({ page, daemon, context }) => {
  const [from, to, show] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true }), page.getByRole('button', { name: 'Show', exact: true })];
  const back = page.getByRole('button', { name: 'Back to the daemon' });
  const host = await Static.start();
  await open_file(page, host.url, story(FROM));
  await expect(sums(page)).toContainText('16 events of 4 instances from incident.jsonl');
  await host.end();
  await context.setOffline(true);
  await from.fill('2026-08-03 14:00');
  await to.fill('15:00');
  await show.click();
  // A time alone is one of the day on which the export ends.
  await expect(sums(page)).toContainText('2026-08-03 14:00:00 UTC+2 to 2026-08-04 09:00:00 UTC+2, 19 h: ');
  await to.fill('2026-08-03 15:00');
  await show.click();
  await expect(sums(page)).toContainText('2026-08-03 14:00:00 UTC+2 to 2026-08-03 15:00:00 UTC+2, 1 h: 4 instances from a part of incident.jsonl, which has 16 events');
  await expect(sums(page).locator('tbody tr')).toContainText('25 m 12 s');
  await page.getByRole('button', { name: '15m' }).click();
  await slider(page).press('End');
  await expect(slider(page)).toHaveAttribute('aria-valuenow', String(FROM + 6 * HOUR - 1));
  await from.fill('2020-01-01');
  await to.fill('2020-01-02');
  await show.click();
  await expect(page.getByRole('alert')).toContainText('Nothing of this window is in incident.jsonl, which goes from 2026-08-03 09:00:00');
  await expect(sums(page)).toContainText('from a part of incident.jsonl');
  await page.getByRole('button', { name: '1h', exact: true }).first().click();
  await expect(sums(page)).toContainText('2026-08-04 08:00:00 UTC+2 to 2026-08-04 09:00:00 UTC+2');
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.goBack();
  await expect(sums(page)).toContainText('2026-08-03 14:00:00 UTC+2 to 2026-08-03 15:00:00 UTC+2');
  await page.getByRole('button', { name: 'Whole file' }).click();
  await expect(sums(page)).toContainText('16 events of 4 instances from incident.jsonl');
  await expect(back).toHaveCount(0);
  await context.setOffline(false);
  await eventful(daemon);
  await page.goto(`${daemon.url}/?view=history&from=-7d`);
  await expect(slider(page)).toBeVisible({ timeout: START_MS });
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Open saved…' }).click();
  await (await chosen).setFiles({ name: 'incident.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(story(FROM)) });
  await expect(sums(page)).toContainText('from incident.jsonl');
  await page.getByRole('button', { name: '24h', exact: true }).first().click();
  await expect(sums(page)).toContainText('1 d: 16 events of 4 instances from incident.jsonl');
  await back.click();
  await expect(sums(page)).not.toContainText('incident.jsonl');
  await expect(page.getByRole('button', { name: '7d', exact: true })).toHaveAttribute('aria-pressed', 'true');
});

test('what is no whole export is refused with its line, and shown up to there if asked', async ({ page, daemon }) => {
  const whole = story(FROM);
  const lines = whole.trimEnd().split('\n');
  const alert = page.getByRole('alert');
  await open_file(page, daemon.url, `${lines.slice(0, 8).join('\n')}\n`);
  await expect(alert).toContainText('incident.jsonl is refused. line 9: the export breaks off before its end.');
  await expect(slider(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Show what stands before it: 7 events' }).click();
  await expect(sums(page)).toContainText('Only what stood before the line that was refused');
  await slider(page).press('End');
  await expect(said(page)).toContainText('Not watched');
  await open_file(page, daemon.url, story(FROM, { schema: 'greenlight.history/7' }));
  await expect(alert).toContainText('line 1: the export is greenlight.history/7, of a newer version');
  await expect(page.getByRole('button', { name: /Show what stands/ })).toHaveCount(0);
  await open_file(page, daemon.url, lines.with(4, '{"at_unix":1,"event":"painted"}').join('\n'));
  await expect(alert).toContainText('line 5: no event of a history: event is "painted"');
  await open_file(page, daemon.url, whole.slice(0, -30));
  await expect(alert).toContainText(`line ${lines.length}: the export breaks off before its end`);
});

test('a window that ends before it begins is refused in words, not shown as nothing', async ({ page, daemon }) => {
  await eventful(daemon);
  const alert = page.getByRole('alert');
  const words = 'There is no history to show: the window begins at 2026-08-03 08:00:00Z and ends before that, at 2026-08-03 07:00:00Z: exchange the two.';
  await page.goto(`${daemon.url}/?view=history&from=2026-08-03T08:00:00Z&to=2026-08-03T07:00:00Z`);
  await expect(alert).toHaveText(words + 'Try again', { timeout: START_MS });
  await expect(sums(page)).toHaveCount(0);
  // In the fields too, and what was written stays there to be mended.
  await open_history(page, daemon.url);
  const [from, to, show] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true }), page.getByRole('button', { name: 'Show', exact: true })];
  await from.fill('-1h');
  await to.fill('-2h');
  await show.click();
  await expect(alert).toContainText('exchange the two');
  await expect(sums(page)).toHaveCount(0);
  expect([await from.inputValue(), await to.inputValue()]).toEqual(['-1h', '-2h']);
  await from.fill('-3h');
  await show.click();
  await expect(sums(page)).toContainText(/ 1 h( 1 s)?: /);
  await expect(alert).toHaveCount(0);
});

test('the moments below the lanes stand above the legend at every width, each whole and apart from the next', async ({ page, daemon }) => {
  // With these ends the last moment is near the end of the lanes.
  for (const from of [FROM, FROM + 600, FROM + 2.2 * HOUR]) {
    await open_file(page, daemon.url, story(from));
    for (const width of [1280, 761, 760, 390, 386, 385, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await expect(slider(page)).toBeVisible();
      const found = await page.evaluate(() => {
        const box = (/** @type {string} */ of) => document.querySelector(of).getBoundingClientRect();
        const [legend, axis] = [box('.past-picture .past-legend'), box('.past-axis .past-lane')];
        const named = [...document.querySelectorAll('.past-tick')].map((tick) => {
          const [around, name] = [tick.getBoundingClientRect(), tick.firstElementChild.getBoundingClientRect()];
          return { ...name.toJSON(), is_seen: name.width > 0 && name.top < around.bottom - 1 };
        }).filter(({ is_seen }) => is_seen);
        const apart = named.every(({ left }, at) => at === 0 || left > named[at - 1].right);
        const inside = named.every(({ right, bottom }) => right <= axis.right + 1 && bottom <= axis.bottom + 1);
        return { count: named.length, apart, inside, above: axis.bottom <= legend.top, scrolls: document.documentElement.scrollWidth > innerWidth };
      });
      expect(found, `${width} from ${from}`).toEqual({ count: expect.any(Number), apart: true, inside: true, above: true, scrolls: false });
      expect(found.count, `${width} from ${from}`).toBeGreaterThan(2);
    }
  }
});

test('hostile names are inert text', async ({ page, daemon }) => {
  const names = ['<img/src=x/onerror=window.hacked=1>', 'n'.repeat(253), '🚦-emoji-🚀', '__proto__', 'constructor'];
  const events = [[FROM, 'started', { watched_until_unix: null }], ...names.map((name, at) => changed(FROM, name, at, row(at === 0 ? null : '<b>\u202egnp</b>', '<script>'))), [FROM + 60, 'removed', { name: names[1] }]];
  await open_file(page, daemon.url, exported({ from: FROM, to: FROM + 3600, events }), '<b>x</b>.jsonl');
  await slider(page).press('Home');
  await expect(said(page)).toContainText('Not ready: <img/src=x/onerror=window.hacked=1>');
  for (const summary of await page.locator('summary').all()) await summary.click();
  expect((await labels(page)).toSorted()).toEqual(names.toSorted());
  expect(await page.evaluate(() => window.hacked)).toBeUndefined();
  expect(await page.locator('#page img, #page script, #page b b').count()).toBe(0);
  expect(await page.locator('#page').evaluate((element) => /[\u202a-\u202e\u2066-\u2069]/.test(element.textContent))).toBe(false);
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${width}`).toBe(true);
  }
});

test('twelve instances have lanes, and the others when asked', async ({ page, daemon }) => {
  const events = [[FROM, 'started', { watched_until_unix: null }], ...Array.from({ length: 300 }, (_, at) => changed(FROM + at, `slot-${String(at).padStart(3, '0')}`, at, row(at % 7 === 0 ? null : 'a1', 'a1')))];
  await open_file(page, daemon.url, exported({ from: FROM, to: FROM + 3600, events }));
  await expect(page.locator('.past-instance')).toHaveCount(12);
  expect((await labels(page))[0]).toBe('slot-000');
  await page.getByRole('button', { name: '288 other instances' }).click();
  await expect(page.locator('.past-instance')).toHaveCount(200);
  await expect(page.locator('p.past-more')).toContainText('100 others have no lane: the filter finds them');
  expect(query(page).all).toBe('1');
  // The last page of a table of many rows is one of few when there are fewer.
  await page.locator('summary', { hasText: 'The instances shown' }).click();
  const rows = page.getByRole('region', { name: 'The instances shown as a table' }).locator('tbody tr');
  for (let page_of_rows = 0; page_of_rows < 3; page_of_rows++) await page.getByRole('button', { name: 'Later rows' }).click();
  await expect(rows).toHaveCount(50);
  await page.getByRole('button', { name: 'Fewer instances' }).click();
  await expect(rows).toHaveCount(12);
  await expect(page.getByRole('button', { name: '288 other instances' })).toBeVisible();
});

test('any instance is reached by its name, or by how it ever stood', async ({ page, daemon }) => {
  const count = 300;
  const name = (at) => `slot-${String(at).padStart(3, '0')}`;
  // The last one serves, was degraded for a while in between, and is masked under a shorter horizon.
  const events = [[FROM, 'started', { watched_until_unix: null }], ...Array.from({ length: count }, (_, at) => changed(FROM, name(at), at, row('a1'))),
    changed(FROM + 600, name(298), 298, row(null, 'a1')), changed(FROM + 3000, name(298), 298, row('b2'))];
  await open_file(page, daemon.url, exported({ from: FROM, to: FROM + 7200, events }));
  const filter = page.getByLabel('Filter');
  const shown = page.getByRole('region', { name: 'Instances', exact: true });
  await expect(shown).toContainText('12 of 300 instances shown');
  await expect(shown).toContainText('Live degraded 1');
  expect((await labels(page))[0]).toBe(name(298));
  await filter.fill('SLOT-29');
  await expect(page.locator('.past-instance')).toHaveCount(10);
  await filter.fill('slot-299');
  await expect(page.locator('.past-instance')).toHaveCount(1);
  expect(await labels(page)).toEqual([name(299)]);
  await expect(shown).toContainText('1 of 300 instances shown');
  expect(query(page)).toEqual({ view: 'history', q: 'slot-299' });
  await slider(page).press('End');
  await expect(said(page).locator('li')).toHaveCount(1);
  await expect(page.locator('summary', { hasText: 'The instances shown' })).toContainText('1 row');
  await page.getByRole('button', { name: /^Live degraded/ }).click();
  await expect(page.locator('.past-instance')).toHaveCount(0);
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect(page.locator('.past-instance')).toHaveCount(12);
  await expect(page.getByRole('button', { name: /^Stale degraded/ })).toHaveCount(0);
  await page.getByRole('button', { name: '15m' }).click();
  await page.getByRole('button', { name: /^Stale degraded/ }).click();
  await expect(page.locator('.past-instance')).toHaveCount(1);
  expect(query(page)).toMatchObject({ view: 'history', stale_after: '15m', standing: 'stale_degraded' });
  // As a link, against a daemon.
  await eventful(daemon);
  await open_history(page, daemon.url, '&q=e&standing=stale_degraded');
  await expect(filter).toHaveValue('e');
  expect(await labels(page)).toEqual(['merge']);
});

test('a window without a length has a slider whose ends are in order', async ({ page, daemon }) => {
  await eventful(daemon);
  await open_history(page, daemon.url, '&from=2026-08-03T08:00:00Z&to=2026-08-03T08:00:00Z');
  const values = () => slider(page).evaluate((one) => ['min', 'now', 'max'].map((name) => Number(one.getAttribute(`aria-value${name}`)) - Date.parse('2026-08-03T08:00:00Z') / 1000));
  expect(await values()).toEqual([0, 0, 0]);
  for (const key of ['ArrowLeft', 'ArrowRight', 'Home', 'End', 'Shift+ArrowRight', 'Shift+ArrowLeft', 'PageUp', 'PageDown']) {
    await slider(page).press(key);
    expect(await values(), key).toEqual([0, 0, 0]);
  }
});

test('it says what was pruned', async ({ page, daemon }) => {
  await open_file(page, daemon.url, story(FROM, { complete_from_unix: FROM + 2 * HOUR }));
  await expect(page.locator('[data-complete-from]')).toContainText('What was before 2026-08-03 11:00:00 UTC+2 has been pruned');
});

base('a daemon without a history is told in words', async ({ page }) => {
  const daemon = await Daemon.start();
  daemon.data = 'memory';
  await daemon.kill();
  await daemon.run('127.0.0.1:0');
  await page.goto(`${daemon.url}/?view=history`);
  await expect(page.getByRole('alert')).toContainText('There is no history to show: this daemon keeps no history: it was started with --data memory', { timeout: START_MS });
  await page.route('**/history?*', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"detail":"no such route: /openapi.json lists them all"}' }));
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toContainText('this daemon is too old to keep a history');
  await daemon.kill();
});
