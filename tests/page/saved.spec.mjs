// A saved /app: judged at the moment it was taken, or at any moment after, without a daemon.

import { banner, degraded, expect, expect_verdict, open, row, save, serving, test, what_if } from './pages.mjs';

const after = (page) => page.getByLabel('Time after the snapshot');

async function at(page, secs) {
  await after(page).fill(`${secs}s`);
  await after(page).press('Enter');
}

test('it flips at the second that the daemon named, under the daemon’s horizon and a what-if, in both directions', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')], 5000);
  await daemon.publish('ci', [degraded('lane', { idle_secs: 600 })], 86_400);
  const app = await daemon.app();
  const trial = await daemon.app('?stale_after=15m');
  await open(page, daemon.url);
  await save(page, app);
  await expect(page.locator('.alive')).toContainText('saved: saved.json');
  const check = async (flips, judged) => {
    expect(flips.map(({ ready }) => ready)).toEqual([true, false, true].slice(0, flips.length));
    expect(flips.length).toBeGreaterThanOrEqual(2);
    for (const { at_unix, ready } of flips) {
      await at(page, at_unix - app.now_unix - 1);
      await judged(!ready);
      await at(page, at_unix - app.now_unix);
      await judged(ready);
    }
  };
  await check(app.readiness.flips.slice(0, 2), (ready) => expect_verdict(page, ready ? 'ready' : 'not_ready'));
  await page.getByRole('button', { name: '15m' }).click();
  await check(trial.readiness.flips.slice(0, 2), (ready) => expect(what_if(page)).toHaveAttribute('data-what-if', ready ? 'ready' : 'not_ready'));
});

test('it works with the daemon gone, and leads back to it', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev'), degraded('lane', { idle_secs: 600 })]);
  const app = await daemon.app();
  await open(page, daemon.url);
  await daemon.kill();
  await save(page, app);
  await expect_verdict(page, 'not_ready');
  await page.locator('[data-next-flip]').click();
  await expect_verdict(page, 'ready');
  await expect(row(page, 'lane')).toContainText('aged out');
  await page.goBack();
  await expect_verdict(page, 'not_ready');
  await daemon.restart();
  await page.getByRole('button', { name: 'Back to live' }).click();
  await expect(page.locator('.alive')).toContainText('live');
  await expect(banner(page)).toContainText('No source has reported since the restart');
});

test('a dropped file opens, and one that is no snapshot says why', async ({ page, daemon }) => {
  await daemon.publish('driver', [serving('dev')]);
  const app = await daemon.app();
  await open(page, daemon.url);
  for (const [text, why] of [['{', 'this file is not JSON'], ['{"a":1}', /no list "instances"/], [JSON.stringify({ ...app, schema: 'x' }), /schema/], [JSON.stringify({ ...app, instances: [{ name: 1 }] }), /app\.instances\[0\]/]]) {
    await save(page, text);
    await expect(page.locator('.tools')).toContainText(why);
    await expect_verdict(page, 'ready');
  }
  await page.evaluate((json) => {
    const data = new DataTransfer();
    data.items.add(new File([json], 'dropped.json', { type: 'application/json' }));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, JSON.stringify(app));
  await expect(page.locator('.alive')).toContainText('saved: dropped.json');
  await expect_verdict(page, 'ready');
});

test('the page on a static host shows the daemon that its address names, and says which', async ({ page, daemon }) => {
  const { Static } = await import('./static.mjs');
  const host = await Static.start();
  const other = await (await import('./daemon.mjs')).Daemon.start(['--allow-origin', host.url]);
  await other.publish('driver', [serving('dev')]);
  await open(page, host.url, `/?daemon=${encodeURIComponent(other.url)}`);
  await expect_verdict(page, 'ready');
  await expect(page.locator('.origin')).toHaveText(other.url);
  await page.goto(host.url);
  await expect(banner(page)).toContainText('This copy of the page has no daemon of its own');
  await other.end();
  await host.end();
});
