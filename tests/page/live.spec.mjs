// The Live view against the real daemon.

import { Fake } from './fake.mjs';
import { banner, degraded, expect, expect_verdict, names, open, row, serving, test, what_if } from './pages.mjs';

test('the banner follows what is published', async ({ page, daemon }) => {
  await open(page, daemon.url);
  await expect_verdict(page, 'not_ready');
  await expect(banner(page)).toContainText('Nothing is serving');
  await daemon.publish('driver', [serving('dev')]);
  await expect_verdict(page, 'ready');
  await expect(banner(page)).toContainText('the daemon says 200 too');
  await expect(page).toHaveTitle(/^✓ Ready/);
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  await expect_verdict(page, 'not_ready');
  await expect(banner(page)).toContainText('lane is degraded: cannot change to worktree. Stops blocking');
  await expect(banner(page)).toContainText('the daemon says 503 too');
  await expect(row(page, 'lane')).toHaveAttribute('data-standing', 'live_degraded');
  await expect(page).toHaveTitle(/^✗ Not ready: lane/);
  await daemon.publish('driver', [serving('dev')]);
  await expect_verdict(page, 'ready');
  await expect(row(page, 'lane')).toHaveCount(0);
});

test('a row that only gets heartbeats never lapses, and one that gets none lapses with the daemon', async ({ page, daemon }) => {
  const GOOD_FOR_SECS = 5;
  const beating = await daemon.keep_publishing('ci', [serving('dev')], GOOD_FOR_SECS);
  await open(page, daemon.url);
  await expect_verdict(page, 'ready');
  const seen = [];
  await page.exposeFunction('saw', (verdict) => seen.push(verdict));
  await page.evaluate(() => {
    const banner = document.querySelector('.banner');
    new MutationObserver(() => window.saw(banner.dataset.verdict)).observe(banner, { attributeFilter: ['data-verdict'] });
  });
  const first = (await daemon.app()).instances[0].good_until_unix;
  // Three reports' worth of time, of which nothing but renewals speak.
  await expect.poll(async () => (await daemon.app()).now_unix, { intervals: [500], timeout: 30_000 }).toBeGreaterThan(first + 2 * GOOD_FOR_SECS);
  expect(seen).toEqual([]);
  await beating.stop();
  await expect_verdict(page, 'not_ready');
  await expect(banner(page)).toContainText(/Dev is unconfirmed: source ci has been silent/i);
  expect((await daemon.app()).ready).toBe(false);
});

test('a what-if changes the table and never the banner', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev'), degraded('lane', { idle_secs: 1200 }), degraded('merge', { idle_secs: 99999 })]);
  await open(page, daemon.url);
  await expect_verdict(page, 'not_ready');
  await page.getByRole('button', { name: '15m' }).click();
  await expect(what_if(page)).toHaveAttribute('data-what-if', 'ready');
  await expect(what_if(page)).toContainText('What if 15m');
  await expect(what_if(page)).toContainText('Ready instead of not ready · lane would be stale degraded');
  await expect(row(page, 'lane')).toContainText('was live degraded');
  await expect(row(page, 'lane')).toHaveAttribute('data-standing', 'stale_degraded');
  await expect(row(page, 'merge')).not.toContainText('was');
  await expect_verdict(page, 'not_ready');
  await expect(page).toHaveTitle(/^✗ Not ready/);
  const field = page.getByLabel('Horizon', { exact: true });
  await field.fill('2d');
  await field.press('Enter');
  await expect(what_if(page)).toContainText('What if 2d');
  await expect(row(page, 'merge')).toHaveAttribute('data-standing', 'live_degraded');
  await field.fill('soon');
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText('15m');
  await page.keyboard.press('Escape');
  await expect(what_if(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'never' }).click();
  await expect(what_if(page)).toContainText('What if never');
  await page.getByRole('button', { name: 'Exit what-if' }).click();
  await expect(what_if(page)).toHaveCount(0);
  expect((await daemon.app('?stale_after=15m')).readiness.ready).toBe(true);
});

test('the link of a what-if opens the same view, and back and forward lead through it', async ({ page, daemon, context }) => {
  await daemon.publish('driver', [serving('dev'), degraded('lane', { idle_secs: 1200 }), degraded('merge', { idle_secs: 99999 })]);
  await open(page, daemon.url);
  await page.getByRole('button', { name: '15m' }).click();
  await page.getByRole('button', { name: /^Stale degraded/ }).click();
  await row(page, 'lane').getByRole('button').click();
  await expect(page.getByText('Why it is red')).toBeVisible();
  const link = page.url();
  const other = await context.newPage();
  await open(other, link, '');
  await expect(what_if(other)).toHaveAttribute('data-what-if', 'ready');
  await expect_verdict(other, 'not_ready');
  await expect(other.getByText('Why it is red')).toBeVisible();
  expect(await names(other)).toEqual(await names(page));
  await page.goBack();
  await page.goBack();
  expect(new URL(page.url()).search).toBe('?stale_after=15m');
  await expect(row(page, 'dev')).toBeVisible();
  await page.goBack();
  await expect(what_if(page)).toHaveCount(0);
  await page.goForward();
  await expect(what_if(page)).toHaveAttribute('data-what-if', 'ready');
});

test('dragging the slider leaves one step in the history', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev'), degraded('lane', { idle_secs: 1200 })]);
  await open(page, daemon.url);
  const before = await page.evaluate(() => history.length);
  const slider = page.getByRole('slider');
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  for (const part of [0.45, 0.4, 0.35, 0.3]) await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
  await expect(what_if(page)).toHaveCount(1);
  await page.mouse.up();
  await expect.poll(() => page.evaluate(() => history.length)).toBe(before + 1);
  await expect(slider).toHaveAttribute('aria-valuetext', /minutes/);
  await page.goBack();
  expect(new URL(page.url()).search).toBe('');
});

test('the table filters, sorts and says what it holds', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev'), degraded('lane'), degraded('merge', { idle_secs: 99999 }), { name: 'wip' }]);
  await open(page, daemon.url);
  expect(await names(page)).toEqual(['lane', 'merge', 'wip', 'dev']);
  await page.getByRole('button', { name: 'Instance', exact: true }).click();
  await expect.poll(() => names(page)).toEqual(['dev', 'lane', 'merge', 'wip']);
  await page.getByRole('button', { name: 'Instance', exact: true }).click();
  await expect.poll(() => names(page)).toEqual(['wip', 'merge', 'lane', 'dev']);
  await page.getByLabel('Filter', { exact: true }).fill('WORKTREE');
  await expect(row(page, 'dev')).toHaveCount(0);
  expect(await names(page)).toEqual(['merge', 'lane']);
  await page.getByRole('button', { name: /^Live degraded/ }).click();
  await expect(row(page, 'merge')).toHaveCount(0);
  await page.getByLabel('Filter', { exact: true }).fill('no such thing');
  await page.getByRole('button', { name: 'Show all' }).click();
  await expect(row(page, 'dev')).toBeVisible();
});

test('details tell every field, both stamps, and who vouches until when', async ({ page, daemon }) => {
  await daemon.publish('driver', [degraded('lane', { last_red_files: ['src/b.rs', 'src/a.rs'], pending_sha: 'beef', draining: 3, proxy_port: 4001, public_host: 'lane.example', expires_at: 2_000_000_000 })], 7200);
  await open(page, daemon.url);
  await row(page, 'lane').getByRole('button').click();
  const details = page.locator('.details');
  for (const text of ['Live degraded, since', 'by source driver until', 'a report is good for 2h', 'Last change', 'Last report', '9f6e4d5', 'c0ffee1', 'beef', '4001', 'lane.example', 'src/a.rs', 'cannot change to worktree', 'UTC+']) {
    await expect(details).toContainText(text);
  }
});

test('no row moves under the pointer or while paused, and it says how many would', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('a'), serving('b'), serving('c')]);
  await open(page, daemon.url);
  await row(page, 'a').hover();
  await daemon.publish('driver', [serving('a'), serving('b'), degraded('c')]);
  await expect(row(page, 'c')).toHaveAttribute('data-standing', 'live_degraded');
  expect(await names(page)).toEqual(['a', 'b', 'c']);
  await page.getByRole('button', { name: '3 rows moved: sort again' }).click();
  await expect.poll(() => names(page)).toEqual(['c', 'a', 'b']);
  await page.getByLabel('Pause').click();
  await expect(page.getByLabel('Pause')).toHaveAttribute('aria-pressed', 'true');
  await daemon.publish('driver', [serving('a'), degraded('b'), serving('c')]);
  await expect(row(page, 'b')).toHaveAttribute('data-standing', 'live_degraded');
  await expect_verdict(page, 'not_ready');
  expect(await names(page)).toEqual(['c', 'a', 'b']);
  await page.getByLabel('Pause').click();
  await expect.poll(() => names(page)).toEqual(['b', 'a', 'c']);
});

for (const count of [5000, 100_000]) {
  test(`a board of ${count} rows works: a bounded document, all of it to be found, a what-if, a change`, async ({ page, daemon }) => {
    test.slow();
    // One row of the real daemon's, many times: a daemon built for debugging would be most of what is waited for.
    await daemon.publish('driver', [degraded('slot-0', { idle_secs: 1200 }), serving('slot-1')]);
    const app = await daemon.app();
    const instances = Array.from({ length: count }, (_, at) => ({ ...app.instances[at % 3 === 0 ? 0 : 1], name: `slot-${at}` }));
    const fake = await Fake.start(daemon.url);
    const at_first = Date.now();
    fake.app = () => ({ ...app, instances, now_unix: app.now_unix + Math.floor((Date.now() - at_first) / 1000), now_unix_ms: app.now_unix_ms + Date.now() - at_first });
    fake.keep_beating();
    await open(page, fake.url);
    await expect_verdict(page, 'not_ready');
    await expect(page.locator('[data-instance]')).toHaveCount(200);
    expect(await page.locator('*').count()).toBeLessThan(8000);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.locator('.paging')).toContainText(`Rows 201 to 400 of ${count.toLocaleString('en')}`);
    const last = `slot-${count - 1}`;
    await page.getByLabel('Filter', { exact: true }).fill(last);
    await expect.poll(() => names(page)).toEqual([last]);
    await page.getByLabel('Filter', { exact: true }).fill('');
    await page.getByRole('button', { name: '15m' }).click();
    await expect(what_if(page)).toContainText(/and [\d,]+ others would change/);
    await expect(what_if(page)).toHaveAttribute('data-what-if', 'ready');
    await expect_verdict(page, 'not_ready');
    const revision = app.revision + 1;
    const id = `${app.boot}.${revision}`;
    fake.send('change', { revision, id, rows: [], removed: instances.filter((_, at) => at % 3 === 0).map(({ name }) => name) });
    await expect_verdict(page, 'ready');
    await fake.end();
  });
}

test('seven tabs at once all live', async ({ context, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  const tabs = [];
  for (let count = 0; count < 7; count++) {
    const tab = await context.newPage();
    await open(tab, daemon.url);
    tabs.push(tab);
  }
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  for (const tab of tabs) {
    await expect_verdict(tab, 'not_ready');
    await expect(tab.locator('.alive')).toContainText('live');
  }
});

test('a link is copied', async ({ page, daemon, context, browserName }) => {
  if (browserName === 'chromium') await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await open(page, daemon.url, '/?stale_after=15m');
  await page.getByRole('button', { name: 'Copy link' }).click();
  await expect(page.getByRole('button', { name: /Copied|Copy it from the address bar/ })).toBeVisible();
  if (browserName === 'chromium') expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${daemon.url}/?stale_after=15m`);
});

test('where the wasm cannot run the page follows all the same, and says so', async ({ page, daemon }) => {
  await page.route('**/greenlight_wasm_bg.wasm', (route) => route.abort());
  await page.goto(daemon.url);
  await expect(banner(page)).toContainText('this browser cannot run the policy');
  await daemon.publish('driver', [serving('dev')]);
  await expect_verdict(page, 'ready');
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  await expect_verdict(page, 'not_ready');
  await expect(row(page, 'lane')).toHaveAttribute('data-standing', 'live_degraded');
  await expect(page.getByLabel('Horizon', { exact: true })).toBeDisabled();
});

test('the daemon’s own page ignores ?daemon=', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  await open(page, daemon.url, '/?daemon=https://elsewhere.example');
  await expect_verdict(page, 'ready');
  await expect(page.locator('.origin')).toHaveCount(0);
});

test('without JavaScript it leads to the plain text', async ({ browser, daemon, browserName }) => {
  test.skip(browserName === 'firefox', 'Playwright cannot switch JavaScript off in it');
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(daemon.url);
  await page.getByRole('link', { name: '/status' }).click();
  await expect(page.locator('body')).toContainText('NOT READY');
  await context.close();
});

test('what troubles the daemon itself is said, and no longer than it lasts', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  const app = await daemon.app();
  expect([app.store, app.prober]).toEqual([{ durable: true }, { trouble: null }]);
  const fake = await Fake.start(daemon.url);
  const at_first = Date.now();
  fake.app = () => ({ ...app, now_unix_ms: app.now_unix_ms + Date.now() - at_first });
  fake.keep_beating();
  await open(page, fake.url);
  await expect(banner(page)).not.toContainText('trouble');
  fake.health = { store: { durable: false, trouble: 'disk full' }, prober: { trouble: { code: 'EMFILE', members: 2, since_unix: app.now_unix } } };
  fake.beat();
  await expect(banner(page)).toContainText('the daemon’s store is in trouble', { timeout: 30_000 });
  await expect(banner(page)).toContainText('the daemon’s prober cannot ask 2 members (EMFILE)');
  fake.health = { store: app.store, prober: app.prober };
  fake.beat();
  await expect(banner(page)).not.toContainText('trouble', { timeout: 30_000 });
  await expect(banner(page)).not.toContainText('cannot ask');
  await fake.end();
});
