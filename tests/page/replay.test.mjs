// One replay: what the page's wasm makes of an export is what the rules make of it natively, to the byte; and what it
// refuses it refuses in the same words.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { past_wasm, root } from './site.mjs';
import { Lines } from '../../web/static/history-lines.js';
import { compared, nth, replay } from '../../web/static/history-replay.js';
import { length } from '../../web/static/history-words.js';
import { story } from './past.mjs';

const seed = process.env.SEED ?? String(Math.floor(Math.random() * 2 ** 40));
const wasm = await past_wasm();

/** @param {(string|number)[]} args */
function lives(...args) {
  const text = execFileSync(`${root}/target/debug/examples/replayed_weeks`, args.map(String), { encoding: 'utf8', maxBuffer: 2 ** 30 });
  return text.trimEnd().split('\n').map((line) => JSON.parse(line));
}

/** The wasm's numbers as the lines that the rules write natively, those of one horizon after those of another. */
function answered(life) {
  const history = new wasm.History();
  const lines = new Lines(history);
  for (const line of life.lines) lines.read(line, true);
  lines.end();
  const words = history.words();
  const [name_of, sha_of] = [[...lines.names.keys()], [...lines.shas.keys()]];
  const [own, ...others] = life.stale_after;
  const blame = (key, place) => {
    const [more, ...who] = history.blame(place);
    return `"${key}":${JSON.stringify(who.map((number) => name_of[number]))},"more":${more}`;
  };
  const of_instance = (sums) => `"serving_secs":${sums[0]},"vetoed_secs":${sums[1]},"masked_secs":${sums[2]},"never_green_secs":${sums[3]},"not_watched_secs":${sums[4]}`;
  let text = '';
  const write = (secs, told) => {
    const [, ready, not_ready, not_watched, flips, longest, verdicts, differences] = told;
    let at = 8 + 6 * name_of.length;
    const span = () => `"from_unix":${told[at]},"to_unix":${told[at + 1]}`;
    for (const end = at + 4 * verdicts; at < end; at += 4) {
      const said = words[told[at + 2]];
      const red = said === 'live_degraded' || said === 'nothing_serving';
      text += `{"span":"verdict","stale_after_secs":${secs},${span()},"said":"${red ? `not_ready","reason":"${said}",${blame('blame', told[at + 3])}` : `${said}"`}}\n`;
    }
    name_of.forEach((name, number) => {
      for (const end = at + 4 * told[8 + 6 * number + 5]; at < end; at += 4) {
        const sha = told[at + 3];
        text += `{"span":"standing","name":${JSON.stringify(name)},"stale_after_secs":${secs},${span()},"stood":"${words[told[at + 2]]}","serving_sha":${sha < 0 ? null : JSON.stringify(sha_of[sha])}}\n`;
      }
    });
    for (const end = at + 4 * differences; at < end; at += 4) {
      const [ready, not_ready] = told[at + 2] === 0 ? [own, secs] : [secs, own];
      text += `{"span":"difference","ready_under_secs":${ready},"not_ready_under_secs":${not_ready},${span()},${blame('rows', told[at + 3])}}\n`;
    }
    assert.equal(at, told.length);
    const each = name_of.map((name, number) => ({ name, sums: told.subarray(8 + 6 * number, 8 + 6 * number + 5) })).filter(({ sums }) => sums.some((sum) => sum > 0));
    each.sort((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
    const all = each.reduce((total, { sums }) => total.map((sum, which) => sum + sums[which]), [0, 0, 0, 0, 0]);
    text += `{"sums":"verdict","stale_after_secs":${secs},"ready_secs":${ready},"not_ready_secs":${not_ready},"not_watched_secs":${not_watched},"flips":${flips},"longest_not_ready_secs":${longest},`
      + `"all_instances":{${of_instance(all)}},"instances":[${each.map(({ name, sums }) => `{"name":${JSON.stringify(name)},${of_instance(sums)}}`).join(',')}]}\n`;
  };
  write(own, history.replay(life.from, life.to, own ?? Infinity, name_of.length));
  for (const secs of others) write(secs, history.compare(secs ?? Infinity, name_of.length));
  history.free();
  return text;
}

/** The lines by what they tell of, each list in its order: natively those of all horizons come in one stream. @param {string} text */
function by_what(text) {
  /** @type {Map<string, string[]>} */
  const lists = new Map();
  for (const line of text.trimEnd().split('\n')) {
    const { span, sums, name, stale_after_secs, ready_under_secs, not_ready_under_secs } = JSON.parse(line);
    const under = span === 'difference' ? [ready_under_secs ?? Infinity, not_ready_under_secs ?? Infinity].sort() : stale_after_secs;
    const what = JSON.stringify([span, sums, name, under]);
    if (!lists.has(what)) lists.set(what, []);
    lists.get(what)?.push(line);
  }
  return [...lists].sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([, lines]) => lines);
}

function check(kind, count, secs, every) {
  test(`${kind}, from seed ${seed}`, () => {
    let spans = 0;
    for (const life of lives(seed, count, secs, every)) {
      // By line: a difference of megabytes says nothing.
      const [got, wanted] = [by_what(answered(life)), by_what(life.answered)];
      const at = got.findIndex((line, place) => line !== wanted[place]);
      assert.ok(at < 0 && got.length === wanted.length, `seed ${life.seed}, line ${at}: got ${got[at]}\nwanted ${wanted[at]}`);
      spans += got.length;
    }
    console.log(`${kind}, ${count} from seed ${seed}: ${spans} lines of spans and sums under 5 horizons, the same bytes`);
  });
}

check('weeks', 2, 7 * 86_400, 240);
check('eventful hours', 20, 4 * 3600, 40);
check('many things in a second', 10, 900, 2);

/** What is read of an export before it is refused, and why it is. */
function refused(lines, is_whole = true) {
  const reader = new Lines(new wasm.History());
  try {
    lines.forEach((line, at) => reader.read(line, is_whole || at < lines.length - 1));
    reader.end();
    return null;
  } catch (error) {
    return error.message;
  }
}

test('a changed row is read by its shape as it would be read as JSON', () => {
  const read = (line) => {
    const told = [];
    const lines = new Lines({ take: (what, text, numbers) => void told.push([what, what === 'wrong' ? '' : text, ...numbers]) });
    lines.read(head, true);
    lines.read(line, true);
    lines.end();
    return [told, [...lines.names], [...lines.shas], lines.events];
  };
  const as_json = (line) => read(` ${line}`);
  const whole = { phase: 'building', serving_sha: 'a1', last_green: 'b2', last_red_sha: 'c3', last_red_reason: 'é', last_red_files: ['x', 'y'], pending_sha: 'd4', draining: 7 };
  const bare = { phase: '', serving_sha: null, last_green: null, last_red_sha: null, last_red_reason: null, last_red_files: [], pending_sha: null, draining: 0 };
  const lines = [changed({}, whole), changed({}, bare), changed({ stored_change_unix: 70 }, { ...bare, last_green: 'a1' })];
  let read_alike = 0;
  for (const line of lines) {
    for (let at = 0; at <= line.length; at++) {
      for (const put of ['', '"', '\\', '0', '1', '-', ',', '}', '\u0001', 'é', ' ', 'e']) {
        for (const odd of [line.slice(0, at) + put + line.slice(at + 1), line.slice(0, at) + put + line.slice(at)]) {
          assert.deepEqual(read(odd), as_json(odd), odd);
          read_alike++;
        }
      }
    }
  }
  console.log(`${read_alike} lines that are, or nearly are, of the shape: read alike`);
});

test('what a daemon writes of changed rows has the shape by which it is read', () => {
  const parse = JSON.parse;
  for (const life of lives(seed, 2, 4 * 3600, 40)) {
    let parsed = 0;
    JSON.parse = (...how) => (parsed++, parse(...how));
    try {
      const lines = new Lines(new wasm.History());
      for (const line of life.lines) lines.read(line, true);
    } finally {
      JSON.parse = parse;
    }
    const others = life.lines.filter((line) => !line.includes('"event":"changed"') || line.includes('\\'));
    assert.ok(others.length < life.lines.length);
    assert.equal(parsed, others.length);
  }
});

const HEAD = { schema: 'greenlight.history/1', version: '0.1.0', from_unix: 10, to_unix: 90, known_until_unix: 80, stale_after_secs: 3600, complete_from_unix: null, names: null, overtaking: [] };
const head = JSON.stringify(HEAD);
const started = '{"at_unix":10,"event":"started","watched_until_unix":null}';
const row = { serving_sha: 'a1', last_green: 'a1' };
const changed = (more = {}, field = {}) => JSON.stringify({ at_unix: 20, event: 'changed', name: 'dev', order: 0, source: 'driver', last_change_unix: 20, ...more, row: { ...row, ...field } });
const end = (events, next = null) => JSON.stringify({ end: { events, next } });

test('what is no whole export is refused with its line, in the words that the command line has', () => {
  assert.equal(refused([head, started, changed(), end(2)]), null);
  for (const [lines, why] of [
    [[], 'line 1: the first line of an export is its head, and this is none'],
    [['\u0000'], 'line 1: the first line of an export is its head, and this is none'],
    [['7'], 'line 1: the first line of an export is its head, and this is none'],
    [[started], 'line 1: the first line of an export is its head, and this is none'],
    [[JSON.stringify({ ...HEAD, schema: 'greenlight.history/12' })], 'line 1: the export is greenlight.history/12, of a newer version; this one reads greenlight.history/1'],
    [['{"schema":"greenlight.rehearsal/1"}'], 'line 1: greenlight.rehearsal/1 is no export of a history; this version reads greenlight.history/1'],
    [['{"schema":"x\\n\\u202e"}'], 'line 1: x\\u{a}\\u{202e} is no export of a history; this version reads greenlight.history/1'],
    [[JSON.stringify({ ...HEAD, to_unix: -1 })], 'line 1: the head is wrong: to_unix is -1, a whole number is wanted'],
    [[head, started], 'line 3: the export breaks off before its end'],
    [[head, started, end(2)], 'line 3: there were 2 events, and 1 of them are here'],
    [[head, started, end(1, 77)], 'line 3: this is one page of several: export the whole window'],
    [[head, started, end(1), started], 'line 4: something stands behind the end'],
    [[head, 'null'], 'line 2: no event of a history: no object'],
    [[head, '{"at_unix":10,"event":"painted"}'], 'line 2: no event of a history: event is "painted", something that happens is wanted'],
    [[head, started, changed({ name: 'a b' })], 'line 3: no event of a history: name is "a b", the name of an instance is wanted'],
    [[head, changed({ source: 'a/b' })], 'line 2: no event of a history: source is "a/b", the name of a source is wanted'],
    [[head, changed({ at_unix: 1.5 })], 'line 2: no event of a history: at_unix is 1.5, a whole number is wanted'],
    [[head, changed({ last_change_unix: undefined })], 'line 2: no event of a history: last_change_unix is missing, a whole number is wanted'],
    [[head, changed({}, { serving_sha: 5 })], 'line 2: no event of a history: serving_sha is 5, a text or null is wanted'],
    [[head, changed({}, { last_green: undefined })], 'line 2: no event of a history: last_green is missing, a text or null is wanted'],
    [[head, '{"at_unix":10,"event":"lapsed","source":"ci","names":{}}'], 'line 2: no event of a history: names is {}, a list is wanted'],
    [[head, '{"at_unix":10,"event":"started","watched_until_unix":3,"drift_secs":0.5}'], 'line 2: no event of a history: drift_secs is 0.5, whole seconds is wanted'],
    [[head, `{"at_unix":10,"event":"removed","name":"dev","x":"${'y'.repeat(9 << 20)}"}`], 'line 2: the line is 9437236 bytes long, at most 8388608'],
  ]) assert.equal(refused(lines), why);
  assert.match(refused([head, started.slice(0, -5)]), /^line 2: no event of a history: /);
  assert.equal(refused([head, started.slice(0, -5)], false), 'line 2: the export breaks off before its end');
});

test('what stood before a refused line is replayed, up to its newest event', () => {
  const history = new wasm.History();
  const lines = new Lines(history);
  for (const line of [head, started, changed(), changed({ at_unix: 40 }, { serving_sha: null })]) lines.read(line, true);
  assert.throws(() => lines.read('{', true), /line 5: /);
  const told = history.replay(10, 90, 3600, 1);
  assert.equal(told[0], 40);
  const words = history.words();
  assert.deepEqual([[...lines.names], [...lines.shas], lines.head], [[['dev', 0]], [['a1', 0]], HEAD]);
  const verdicts = [];
  for (let at = 14; at < 14 + 4 * told[6]; at += 4) verdicts.push([told[at], told[at + 1], words[told[at + 2]]]);
  assert.deepEqual(verdicts, [[10, 20, 'nothing_serving'], [20, 40, 'ready'], [40, 90, 'not_watching']]);
});

test('after a clock that was put back a part ends at its last event, not at its latest moment', () => {
  const history = new wasm.History();
  const lines = new Lines(history);
  const again = '{"at_unix":50,"event":"started","watched_until_unix":150,"drift_secs":0}';
  for (const line of [head.replace('"to_unix":90', '"to_unix":200'), started, changed(), changed({ at_unix: 150 }), again, changed({ at_unix: 60, last_change_unix: 60 }, { serving_sha: null })]) lines.read(line, true);
  assert.throws(() => lines.read('{', true), /line 7: /);
  const told = history.replay(10, 200, 3600, 1);
  assert.equal(told[0], 60);
  const words = history.words();
  const last = 14 + 4 * (told[6] - 1);
  assert.deepEqual([told[last], told[last + 1], words[told[last + 2]]], [60, 200, 'not_watching']);
});

test('the sums of a story are those of its spans, however many shas it has', () => {
  const wasm_history = new wasm.History();
  const lines = new Lines(wasm_history);
  for (const line of story(1_785_740_400).trimEnd().split('\n')) lines.read(line, true);
  lines.end();
  const { from_unix: from, to_unix: to } = lines.head;
  const told = compared(wasm_history, lines, replay(wasm_history, lines, from, to, 3600), 900);
  for (const lane of [0, 1]) {
    const { verdict } = told.lanes[lane];
    const spans = Array.from({ length: verdict.length }, (_, at) => nth(verdict, at));
    const secs = (...wanted) => spans.filter((span) => wanted.includes(told.word(span))).reduce((sum, span) => sum + told.end(span) - told.start(span), 0);
    const { ready, not_ready, not_watched } = told.sums[lane];
    assert.deepEqual([ready, not_ready, not_watched], [secs('ready'), secs('live_degraded', 'nothing_serving'), secs('not_watching')]);
    assert.equal(ready + not_ready + not_watched, to - from);
  }
  assert.deepEqual(told.order.map((number) => told.names[number]), ['lane', 'dev', 'merge', 'feature-x']);
  assert.ok(told.masked[1] > told.masked[0] && told.masked[0] > 0 && told.lanes[1].differences.length > 0);
});

test('a length says all of itself', () => {
  for (const [secs, words] of [[0, '0'], [59, '59 s'], [3600, '1 h'], [90_000, '1 d 1 h'], [93_540, '1 d 1 h 59 m'], [90_001, '1 d 1 h 1 s'], [86_400 * 400 + 61, '400 d 1 m 1 s']]) assert.equal(length(secs), words);
  const sizes = { d: 86_400, h: 3600, m: 60, s: 1 };
  for (let secs = 0; secs < 400_000; secs += 7) {
    const parts = length(secs).split(/ (?=\d)/).map((part) => part.split(' '));
    assert.equal(parts.reduce((sum, [count, unit]) => sum + Number(count) * (sizes[unit] ?? 0), 0), secs);
  }
});

test('no moment and no horizon traps', () => {
  const history = new wasm.History();
  assert.deepEqual(history.compare(5, 0), new Float64Array(8));
  assert.deepEqual([...history.replay(0, 10, 5, 0)], [0, 0, 0, 10, 0, 0, 1, 0, 0, 10, 3, 0]);
  const lines = new Lines(history);
  for (const line of [head, started, changed(), end(2)]) lines.read(line, true);
  const odd = [NaN, -Infinity, -1, 0, 0.5, 3600, 2 ** 53, 1e300, Infinity];
  for (const from of odd) for (const to of odd) for (const secs of odd) {
    history.replay(from, to, secs, 1);
    history.compare(3600, 1);
  }
  assert.deepEqual(Array.from(history.blame(99)), []);
});
