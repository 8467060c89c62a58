// The Rehearsal view: a record opened from a file, by a drop and from an address, replayed under other policies.

import { copyFileSync } from 'node:fs';

import { expect, fits, test } from './pages.mjs';
import { open_record, record_file, record_text, rehearsal } from './records.mjs';

const outcome = (page) => page.locator('[data-outcome]');
const cell = (page, name) => page.locator(`[data-cell="${name}"]`);
const slider = (page) => page.getByRole('slider', { name: 'Moment' });
const moment = (page) => page.locator('.roll-moment');
const result = (page) => page.getByRole('region', { name: 'What if', exact: true });

test('without a record it says what one is, and the command that makes one', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await expect(page.getByText('A record is everything')).toBeVisible();
  await expect(page.locator('pre')).toContainText('--record roll.jsonl');
});

test('the verdict comes first, with exit and why, and every sum is there, zeros included', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'mixed');
  await expect(outcome(page)).toContainText('Broken');
  await expect(outcome(page)).toContainText('exit 1');
  await expect(outcome(page)).toContainText('old cut 2 ticks');
  const tiles = page.locator('[data-class]');
  await expect(tiles).toHaveText([/^ok83/, /^lost4/, /^slow0/, /^server error3/, /^unexpected1/, /^nobody0/, /^ours0/]);
  await expect(tiles.nth(1)).toContainText(/2 fresh · 2 kept/);
  await page.getByText('Every class and lane').click();
  await expect(page.getByRole('row', { name: /^torn 2/ })).toBeVisible();
  const misses = page.getByRole('region', { name: 'Misses' });
  await expect(misses.locator('[data-tick]')).toHaveCount(8);
  await expect(misses.locator('[data-tick]').first()).toContainText('torn');
  await expect(misses.locator('[data-tick]').first()).toContainText('old in, new not started');
  await expect(misses.locator('[data-tick]').first()).toContainText(/\d+, use \d+, (fresh|kept)/);
});

for (const [name, word, exit] of [['kept', 'Kept', 0], ['exits', 'Broken', 1], ['never-exits', 'Incomplete', 4]]) {
  test(`the record of a roll that was ${name} says ${word}`, async ({ page, daemon }) => {
    await rehearsal(page, daemon.url);
    await open_record(page, name);
    await expect(outcome(page)).toContainText(word);
    await expect(outcome(page)).toContainText(`exit ${exit}`);
  });
}

test('more misses than fit are counted, and shown when asked', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'late');
  await expect(page.locator('[data-tick]')).toHaveCount(10);
  await expect(page.locator('.paging')).toContainText('and 15 more');
  await page.getByRole('button', { name: 'Show 15 more' }).click();
  await expect(page.locator('[data-tick]')).toHaveCount(25);
});

test('a dropped record opens from any view, and an /app leads back to the live one', async ({ page, daemon }) => {
  await page.goto(daemon.url);
  await expect(page.locator('.slider').first()).toBeEnabled({ timeout: 30_000 });
  const drop = (text, name) => page.evaluate(([content, named]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], named));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [text, name]);
  await drop(record_text('exits'), 'dropped.jsonl');
  await expect(outcome(page)).toContainText('Broken');
  await expect(page).toHaveURL(/view=rehearsal/);
  await expect(page.locator('.roll-file')).toHaveText('dropped.jsonl');
  await drop(JSON.stringify(await daemon.app()), 'app.json');
  await expect(page.locator('.alive')).toContainText('saved: app.json');
  await expect(page).not.toHaveURL(/view=rehearsal/);
});

test('another policy is replayed at once: lanes, sums, address, back and forward', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'stall');
  await expect(outcome(page)).toContainText('Kept');
  await expect(cell(page, '3/300')).toHaveText('0');
  const lanes = await page.locator('.roll-svg .roll-if').count();
  expect(lanes).toBe(0);
  await page.getByRole('button', { name: '1 silence', exact: true }).click();
  await expect(result(page)).toContainText('What if 1 silence, 300 ms');
  await expect(result(page)).toContainText(/nobody for \d+ ticks instead of 0/);
  await expect(result(page)).not.toContainText('nobody for 0');
  await expect(result(page)).toContainText('2 leaves instead of 1');
  expect(await page.locator('.roll-svg .roll-if').count()).toBeGreaterThan(1);
  await expect(page).toHaveURL(/silences=1/);
  const said = await result(page).textContent();
  await page.getByRole('button', { name: 'Exit what-if' }).click();
  await expect(result(page)).toHaveCount(0);
  await expect(page).not.toHaveURL(/silences/);
  await page.goBack();
  await expect(result(page)).toHaveText(said ?? '');
  await page.goForward();
  await expect(result(page)).toHaveCount(0);
  // The verdict stays that of the record.
  await expect(outcome(page)).toContainText('Kept');
});

test('the grid shows all of them, marks the recorded one, and sets the policy', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'late');
  await expect(page.locator('.roll-own [data-cell]')).toHaveAttribute('data-cell', '3/100');
  await expect(cell(page, '3/100')).toHaveText('25');
  await expect(cell(page, '6/3000')).not.toHaveText('…');
  await cell(page, '1/100').click();
  await expect(cell(page, '1/100')).toHaveAttribute('aria-pressed', 'true');
  await expect(result(page)).toContainText('1 silence, 100 ms');
  const nobody = /^(\d+)/.exec((await cell(page, '1/100').textContent()) ?? '')?.[1];
  await expect(result(page)).toContainText(`nobody for ${nobody} ticks`);
  // What a longer time would have asked is not in the record: unknown, and said so.
  await cell(page, '3/200').click();
  await expect(result(page)).toContainText('Probe times stay as recorded');
  await expect(cell(page, '3/200')).toContainText('?');
  await expect(cell(page, '3/200')).toHaveAttribute('aria-label', /unknown/);
  await page.getByLabel('Hold the last one').check();
  await expect(result(page)).toContainText('the last one held');
  // As a hand does it: Firefox adds to what stands in a field of numbers when it is filled by a script.
  await page.getByLabel('Answers to join').press('ControlOrMeta+a');
  await page.keyboard.type('3');
  await page.keyboard.press('Enter');
  await expect(result(page)).toContainText('3 answers to join');
  await expect(result(page)).toContainText('no longer holds from');
  await expect(page.locator('.roll-beyond')).toHaveCount(1);
  await expect(page).toHaveURL(/joins=3/);
  await page.getByLabel('Probe timeout', { exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL(/timeout_ms=250/);
  await page.keyboard.press('Escape');
  await expect(result(page)).toHaveCount(0);
});

test('the cursor goes by keys and by pointer, and says everything at its moment', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'exits');
  await expect(moment(page)).toContainText('refused ECONNREFUSED');
  await slider(page).focus();
  await page.keyboard.press('Home');
  await expect(slider(page)).toHaveAttribute('aria-valuetext', /old: starting/);
  await page.keyboard.press('PageDown');
  await expect(moment(page)).toContainText('old: in');
  await expect(page).toHaveURL(/at_us=-\d+/);
  await page.keyboard.press('End');
  const end = Number(await slider(page).getAttribute('aria-valuenow'));
  await page.keyboard.press('Shift+ArrowLeft');
  const before = Number(await slider(page).getAttribute('aria-valuenow'));
  expect(before).toBeLessThan(end);
  await page.keyboard.press('ArrowRight');
  expect(Number(await slider(page).getAttribute('aria-valuenow'))).toBeGreaterThan(before);
  const box = await slider(page).boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
  await expect(moment(page)).toContainText('old: in');
  await page.mouse.move(5, 5);
  await expect(slider(page)).toHaveAttribute('aria-valuenow', /\d+/);
  await slider(page).click({ position: { x: box.width * 0.3, y: 20 } });
  await expect(page).toHaveURL(/at_us=\d{6}(&|$)/);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect(page.getByRole('button', { name: 'Whole' })).toBeEnabled();
  await page.locator('[data-tick] button').last().click();
  await expect(moment(page)).toContainText('refused');
  await page.getByRole('button', { name: 'Whole' }).click();
  await expect(page.getByRole('button', { name: 'Whole' })).toBeDisabled();
});

test('each picture has a table that says the same', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  await open_record(page, 'exits');
  await page.getByText('The picture as a table').click();
  const table = page.getByRole('region', { name: 'The picture as a table' });
  for (const words of ['started, process', 'joined: answered 200', 'got its SIGTERM', 'ended: exit 0', 'left: connection refused', 'probe: refused']) await expect(table).toContainText(words);
  await page.getByText('Answer times as a table').click();
  await expect(page.getByRole('region', { name: 'Answer times as a table' }).getByRole('row')).not.toHaveCount(1);
  await page.getByRole('button', { name: '1 silence', exact: true }).click();
  await cell(page, '1/50').click();
  await expect(table).toContainText('what if: in');
});

/** Whatever sticks out. */
const widest = (page) => page.evaluate(() => [...document.querySelectorAll('#page *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('.scroll')).map((one) => `${one.tagName}.${one.className}`).slice(0, 8).join(' '));

const lines = (name) => record_text(name).trimEnd().split('\n');
const REFUSALS = [
  ['truncated', () => lines('exits').slice(0, 40).join('\n'), /line 41: the record breaks off before its end/, true],
  ['cut within a line', () => `${lines('exits').slice(0, 40).join('\n')}\n{"event":"ti`, /line 41: no event of a record: /, true],
  ['newer', () => record_text('exits').replace('rehearsal/1', 'rehearsal/2'), /line 1: the record is greenlight\.rehearsal\/2, of a newer version/, false],
  ['foreign', () => '{"schema":"somebody.else/1"}\n', /line 1: somebody\.else\/1 is no record of a rehearsal/, false],
  ['no record at all', () => 'hello\nthere\n', /line 1: the first line of a record is its header/, false],
  ['empty', () => '', /line 1: the first line of a record is its header/, false],
];
for (const [name, text, words, is_readable] of REFUSALS) {
  test(`a record that is ${name} is refused with its line and the reason`, async ({ page, daemon }) => {
    await rehearsal(page, daemon.url);
    await open_record(page, { name: 'x.jsonl', text: text() });
    await expect(page.getByRole('alert')).toContainText(words);
    await expect(outcome(page)).toHaveCount(0);
    const show = page.getByRole('button', { name: 'Show what was readable before' });
    await expect(show).toHaveCount(is_readable ? 1 : 0);
    if (!is_readable) return;
    await show.click();
    await expect(outcome(page)).toContainText('Inconclusive');
    await expect(outcome(page)).toContainText('exit 3');
    await expect(page.getByRole('alert')).toContainText('only a part');
    await expect(page.locator('.roll-svg')).toBeVisible();
  });
}

test('hostile texts are inert and break no layout', async ({ page, daemon }) => {
  const markup = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202Egnp\u2066';
  const hostile = lines('exits').map((line) => {
    const event = JSON.parse(line);
    if (event.event === 'header') {
      event.processes[0].command = markup;
      event.options.path = markup;
    }
    if (event.event === 'exited') event.exit = markup + 'x'.repeat(2000);
    if (event.event === 'tick' && event.error) event.error = markup.repeat(20);
    return JSON.stringify(event);
  });
  hostile.splice(3, 0, JSON.stringify({ event: 'last_words', at_us: 0, process: 'old', text: markup + '\n'.repeat(50) }));
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 700 });
    await rehearsal(page, daemon.url);
    await open_record(page, { name: '<b>\u202Ename</b>.jsonl', text: `${hostile.join('\n')}\n` });
    await expect(outcome(page)).toContainText('Broken');
    await page.getByText('The picture as a table').click();
    expect(await fits(page), `at ${width}: ${await widest(page)}`).toBe(true);
    expect(await page.locator('#page').evaluate((element) => /[\u202a-\u202e\u2066-\u2069]/.test(element.textContent))).toBe(false);
  }
  expect(await page.evaluate(() => window.hacked)).toBeUndefined();
  expect(await page.locator('#page img, #page script').count()).toBe(0);
});

test('an address names the record, the policy and the cursor; what cannot be had is told in words', async ({ page, daemon }) => {
  const { Static } = await import('./static.mjs');
  const host = await Static.start();
  const { site } = await import('./site.mjs');
  copyFileSync(record_file('stall'), `${site().folder}/roll.jsonl`);
  await page.goto(`${host.url}/?view=rehearsal&record=roll.jsonl&silences=1&at_us=700000`);
  await expect(outcome(page)).toContainText('Kept', { timeout: 30_000 });
  await expect(result(page)).toContainText('1 silence');
  await expect(moment(page)).toContainText('At 0.700 s');
  await page.getByRole('button', { name: '2 silences', exact: true }).click();
  await expect(page).toHaveURL(/record=roll\.jsonl.*silences=2.*at_us=700000/);
  await page.goto(`${host.url}/?view=rehearsal&record=nowhere.jsonl`);
  await expect(page.getByRole('alert')).toContainText('nowhere.jsonl cannot be had: the answer is 404');
  await page.goto(`${host.url}/?view=rehearsal&record=${encodeURIComponent('http://127.0.0.1:1/x.jsonl')}`);
  await expect(page.getByRole('alert')).toContainText('own origin or by https');
  await page.goto(`${daemon.url}/?view=rehearsal&record=${encodeURIComponent('https://example.com/x.jsonl')}`);
  await expect(page.getByRole('alert')).toContainText('comes from this page’s own origin');
  await page.goto(`${daemon.url}/?view=rehearsal&record=nowhere.jsonl`);
  await expect(page.getByRole('alert')).toContainText('cannot be had: the answer is 404');
  await host.end();
});

test('the static copy works with nobody there', async ({ page, context }) => {
  const { Static } = await import('./static.mjs');
  const host = await Static.start();
  await rehearsal(page, host.url);
  await open_record(page, 'exits');
  await expect(outcome(page)).toContainText('Broken');
  await host.end();
  await context.setOffline(true);
  await cell(page, '1/50').click();
  await expect(result(page)).toContainText('1 silence, 50 ms');
  await open_record(page, 'late');
  await expect(outcome(page)).toContainText('nobody was in rotation for 25 ticks');
});

test('a long record is drawn soon, and another policy within a moment', async ({ page, daemon }) => {
  await rehearsal(page, daemon.url);
  // A roll of 100 s at a tick every 2 ms, made of a short one.
  const [header, ...events] = lines('stall').map((line) => JSON.parse(line));
  const end = events.pop();
  const all = events.filter(({ event }) => event !== 'tick').map((event) => JSON.stringify(event));
  const tick = events.find(({ event }) => event === 'tick');
  for (let number = 0; number < 50_000; number++) {
    const due_us = number * 2000;
    all.push(JSON.stringify({ ...tick, tick: number, due_us, sent_us: due_us + 10, end_us: due_us + 900, lane: number % 2 ? 'kept' : 'fresh' }));
  }
  header.options.every_us = 2000;
  await open_record(page, { name: 'long.jsonl', text: [JSON.stringify(header), ...all, JSON.stringify({ ...end, at_us: 1e8, ticks: 50_000 })].join('\n') });
  await expect(page.locator('[data-class]').first()).toContainText('50,000', { timeout: 30_000 });
  await page.getByRole('button', { name: '1 silence', exact: true }).click();
  await expect(result(page)).toContainText('1 silence');
});
