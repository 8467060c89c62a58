// Whether the page may be believed: it loses its daemon honestly, comes back without a gap, and judges by its clock.

import { banner, degraded, expect, expect_verdict, open, row, serving, test, what_if } from './pages.mjs';
import { Fake } from './fake.mjs';

const alive = (page) => page.locator('.alive');

test('a killed daemon is reconnecting, then unknown; restarted, it is believed again', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')], 'forever');
  await open(page, daemon.url, '/?stale_after=15m');
  await expect_verdict(page, 'ready');
  await expect(what_if(page)).toHaveCount(1);
  await daemon.kill();
  await expect(alive(page)).toContainText('reconnecting');
  await expect_verdict(page, 'ready');
  await expect_verdict(page, 'unknown');
  await expect(banner(page)).toContainText(/Unknown, as of \d\d:\d\d UTC\+\d/);
  await expect(page).toHaveTitle(/^\? Unknown/);
  await expect(page.locator('link[rel=icon]')).toHaveAttribute('href', /5b6470/);
  await expect(what_if(page)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Next hour' })).toHaveCount(0);
  const age = row(page, 'dev').locator('.cell-age');
  const frozen = await age.textContent();
  await daemon.restart();
  await expect(alive(page)).toContainText('live');
  await expect_verdict(page, 'ready');
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  await expect_verdict(page, 'not_ready');
  expect(frozen).toMatch(/^\d+ s$/);
});

test('a daemon that shuts down says so', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  await open(page, daemon.url);
  await expect_verdict(page, 'ready');
  await daemon.kill('SIGTERM');
  await expect_verdict(page, 'unknown');
});

test('after a restart, nothing is believed until a source has reported', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  await daemon.kill();
  await daemon.restart();
  await open(page, daemon.url);
  await expect_verdict(page, 'not_ready');
  await expect(banner(page)).toContainText('No source has reported since the restart');
  await expect(row(page, 'dev')).toContainText('unconfirmed');
  await daemon.publish('driver', [serving('dev')]);
  await expect_verdict(page, 'ready');
});

for (const [off, name] of [[3_600_000, 'ahead'], [-3_600_000, 'behind']]) {
  test(`a browser clock one hour ${name} shows the same ages and verdict`, async ({ page, daemon }) => {
    await daemon.publish('driver', [serving('dev'), degraded('lane', { idle_secs: 3000 })], 600);
    await page.clock.install({ time: Date.now() + off });
    await open(page, daemon.url);
    await expect_verdict(page, 'not_ready');
    await expect(row(page, 'lane').locator('.cell-age')).toHaveText('50 m');
    await expect(row(page, 'dev')).toHaveAttribute('data-standing', 'serving');
    await expect(alive(page)).toContainText(off > 0 ? /skew −(59 m|1 h)/ : /skew \+(59 m|1 h)/);
    await expect(banner(page)).toContainText('the daemon says 503 too');
    const told = (await daemon.app()).instances.find(({ name: which }) => which === 'lane').ages_out_unix;
    await row(page, 'lane').getByRole('button').click();
    const local = new Date(told * 1000).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' });
    await expect(page.locator('.details')).toContainText(local);
  });
}

test('live, it flips at the second that the daemon named, in both directions, and so does a what-if', async ({ page, daemon }) => {
  // lane ages out at +600, dev's source lapses at +900; under 15 minutes lane is stale already.
  await daemon.publish('driver', [serving('dev')], 900);
  await daemon.publish('ci', [degraded('lane', { idle_secs: 3000 })], 86_400);
  const app = await daemon.app();
  let moved_ms = 0;
  const fake = await Fake.start(daemon.url);
  const start = Math.floor(Date.now() / 1000) * 1000;
  fake.app = () => ({ ...app, now_unix: app.now_unix + Math.floor(moved_ms / 1000), now_unix_ms: app.now_unix * 1000 + moved_ms });
  const [ready_at, not_ready_at] = app.readiness.flips.map((flip) => flip.at_unix);
  expect(app.readiness.flips.map((flip) => flip.ready)).toEqual([true, false, true].slice(0, app.readiness.flips.length));
  await page.clock.install({ time: start });
  await page.clock.pauseAt(start + 1000);
  // What the clock of the browser has passed, the clock of the daemon has passed too.
  const move_to = async (unix, part_ms) => {
    const target = (unix - app.now_unix) * 1000 + part_ms;
    await page.clock.runFor(Math.min(target - moved_ms, 3000));
    if (target - moved_ms > 3000) await page.clock.fastForward(target - moved_ms - 3000);
    moved_ms = target;
    fake.beat();
    await page.clock.runFor(20);
    moved_ms += 20;
    fake.beat();
  };
  await page.goto(fake.url);
  await expect.poll(async () => {
    await page.clock.runFor(50);
    moved_ms += 50;
    fake.beat();
    return page.getByLabel('Horizon', { exact: true }).isEnabled();
  }).toBe(true);
  await expect_verdict(page, 'not_ready');
  await move_to(ready_at, -200);
  await expect(banner(page)).toContainText('judged by');
  await expect_verdict(page, 'not_ready');
  await move_to(ready_at, 100);
  await expect_verdict(page, 'ready');
  await expect(row(page, 'lane')).toHaveAttribute('data-standing', 'stale_degraded');
  await expect(row(page, 'lane')).toContainText('aged out');
  await move_to(not_ready_at, -200);
  await expect_verdict(page, 'ready');
  await move_to(not_ready_at, 100);
  await expect_verdict(page, 'not_ready');
  await fake.end();
});

test('a hidden tab closes its stream after a minute and says so; back in sight it checks', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  await page.clock.install();
  await open(page, daemon.url);
  const show = (hidden) => page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { value: is, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
  await show(true);
  await page.clock.runFor(59_000);
  await page.clock.runFor(2000);
  await expect_verdict(page, 'unknown');
  await expect(page).toHaveTitle(/^\? Unknown/);
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  await show(false);
  await expect_verdict(page, 'not_ready');
  await expect(alive(page)).toContainText('live');
});
