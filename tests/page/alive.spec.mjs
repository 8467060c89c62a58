// Whether the page may be believed: it loses its daemon honestly, comes back without a gap, and judges by its clock.

import { banner, degraded, expect, expect_verdict, open, row, serving, test, what_if } from './pages.mjs';
import { Fake } from './fake.mjs';

const alive = (page) => page.locator('.alive');
/** How often the page has drawn itself anew. */
const draws = (page) => page.evaluate(() => performance.getEntriesByName('greenlight-draw').length);

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
  expect(frozen).toMatch(/^\d+ s$/);
  // The page goes on drawing, second by second, and its ages stand still.
  const drawn = await draws(page);
  await expect.poll(() => draws(page)).toBeGreaterThan(drawn + 2);
  await expect(age).toHaveText(frozen ?? '');
  await daemon.restart();
  await expect(alive(page)).toContainText('live');
  await expect_verdict(page, 'ready');
  await daemon.publish('driver', [serving('dev'), degraded('lane')]);
  await expect_verdict(page, 'not_ready');
  expect(await age.textContent()).not.toBe(frozen);
});

test('a daemon that is there and says nothing is not believed for longer than fifteen seconds', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  const fake = await Fake.start(daemon.url);
  const app = await daemon.app();
  fake.app = () => app;
  await page.clock.install({ time: app.now_unix_ms });
  await open(page, fake.url);
  await expect_verdict(page, 'ready');
  await page.clock.pauseAt(app.now_unix_ms + 60_000);
  // A minute has gone by in one step: the page may be connecting anew, and hears no beat until it has.
  await expect(async () => {
    fake.beat();
    await page.clock.runFor(500);
    await expect(alive(page)).toContainText('heard 0 s ago', { timeout: 300 });
  }).toPass({ timeout: 30_000 });
  await page.clock.runFor(14_000);
  await expect_verdict(page, 'ready');
  await page.clock.runFor(2000);
  await expect_verdict(page, 'unknown');
  // The beat may come after the frame that was to draw it.
  await expect(async () => {
    fake.beat();
    await page.clock.runFor(100);
    await expect(banner(page)).toHaveAttribute('data-verdict', 'ready', { timeout: 300 });
  }).toPass({ timeout: 30_000 });
  await fake.end();
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

/** Where live flips are looked for: whose horizon, the page's query and the daemon's, and what shows the verdict. */
const FLIPPING = [
  { name: 'the daemon’s horizon', query: '', lapses_secs: 900, shown: (page) => [banner(page), 'data-verdict'] },
  { name: 'a what-if', query: '?stale_after=2h', lapses_secs: 6000, shown: (page) => [what_if(page), 'data-what-if'] },
];

/** In the page, before its own scripts: keeps the daemon's time of the beat that was taken last. */
function note_beats() {
  window.SharedWorker = class extends SharedWorker {
    constructor(...how) {
      super(...how);
      this.port.addEventListener('message', ({ data }) => {
        if (data.beat) window.heard_unix_ms = data.beat.now_unix_ms;
      });
    }
  };
}

for (const { name, query, lapses_secs, shown } of FLIPPING) {
  test(`live, under ${name}, it flips at the second that the daemon named, in both directions`, async ({ page, daemon }) => {
    // lane ages out ten minutes from now, or an hour later under two hours; then the source of dev lapses.
    await daemon.publish('driver', [serving('dev')], lapses_secs);
    await daemon.publish('ci', [degraded('lane', { idle_secs: 3000 })], 86_400);
    const app = await daemon.app();
    const [ready_at, not_ready_at] = (await daemon.app(query)).readiness.flips.map((flip) => flip.at_unix);
    let moved_ms = 0;
    const fake = await Fake.start(daemon.url);
    const start = Math.floor(Date.now() / 1000) * 1000;
    fake.app = () => ({ ...app, now_unix: app.now_unix + Math.floor(moved_ms / 1000), now_unix_ms: app.now_unix * 1000 + moved_ms });
    await page.clock.install({ time: start });
    await page.clock.pauseAt(start + 1000);
    await page.addInitScript(note_beats);
    // What the clock of the browser has passed, the clock of the daemon has passed too; and no beat is under way while
    // the clocks move, or it would be taken for a clock that was set.
    const move_by = async (ms) => {
      await page.clock.runFor(Math.min(ms, 3000));
      if (ms > 3000) await page.clock.fastForward(ms - 3000);
      moved_ms += ms;
      if (fake.streams.size === 0) return;
      fake.beat();
      await expect.poll(() => page.evaluate(() => window.heard_unix_ms)).toBe(fake.app().now_unix_ms);
    };
    // Drawn in the frame after the beat.
    const move_to = async (unix, part_ms) => {
      await move_by((unix - app.now_unix) * 1000 + part_ms - moved_ms);
      await move_by(20);
    };
    const [where, attribute] = shown(page);
    const judged = (verdict) => expect(where).toHaveAttribute(attribute, verdict);
    await page.goto(fake.url + query);
    await expect.poll(async () => {
      await move_by(50);
      return await page.getByLabel('Horizon', { exact: true }).isEnabled() && fake.streams.size > 0;
    }).toBe(true);
    await judged('not_ready');
    await move_to(ready_at, -200);
    await judged('not_ready');
    await move_to(ready_at, 100);
    await judged('ready');
    await expect(row(page, 'lane')).toHaveAttribute('data-standing', 'stale_degraded');
    await expect(row(page, 'lane')).toContainText('aged out');
    await move_to(not_ready_at, -200);
    await judged('ready');
    await move_to(not_ready_at, 100);
    await judged('not_ready');
    await fake.end();
  });
}

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
