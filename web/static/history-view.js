// The History view as it is drawn: the window, the what-if, the sums, and the lanes.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').Painter} Painter */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').Spans} Spans */
/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('./dom.js').VNode} VNode */
/** @typedef {import('./history.js').Shown} Shown */

import { zone_minutes } from './clock.js';
import { h, lazy } from './dom.js';
import { STANDINGS, found, lanes_shown, stood } from './history-filter.js';
import { last_of, nth } from './history-replay.js';
import { said, spoken } from './history-said.js';
import { tables } from './history-tables.js';
import { iso, length, when } from './history-words.js';
import { icon } from './icons.js';
import { lane, place, ticks } from './lanes.js';
import { preset_name } from './view-horizon.js';
import { STANDING_WORDS, moment, plural, short_sha, visible, zone_name } from './words.js';

const WINDOWS = ['1h', '24h', '7d', '30d'];
const HORIZONS = ['15m', '30m', '1h', '4h', '24h', 'never'];
/** From what is seen last to what is seen first. A thin look is a line. */
const LOOKS = {
  serving: { top: 9, bottom: 15, words: 'ready, or serving' },
  never_green: { top: 12, bottom: 12, words: 'never green' },
  stale_degraded: { top: 6, bottom: 18, words: 'masked: degraded, and no longer vetoing' },
  not_watching: { top: 12, bottom: 12, words: 'not watched' },
  live_degraded: { top: 1, bottom: 23, words: 'not ready, or vetoing' },
};
const LOOK_LIST = Object.entries(LOOKS).map(([name, look]) => ({ name, ...look }));
/** @type {Record<string, number>} */
const LOOK_OF = { serving: 0, ready: 0, never_green: 1, stale_degraded: 2, not_watching: 3, live_degraded: 4, nothing_serving: 4 };
const DIFFERENT = [{ name: 'differs', top: 10, bottom: 20 }];
/** A sha is written where it has so much of the picture. */
const ROOM = 0.1;

/**
 * @param {Shown} shown @param {Host} host @param {URLSearchParams} asked @param {State} state @param {Time} time
 * @returns {VNode[]}
 */
export function view(shown, host, asked, state, time) {
  const { replay, stage } = shown;
  return [
    h('h1', { key: 'heading', class: 'past-name' }, 'History'),
    range(shown, host, time),
    what_if(shown, state),
    stage === 'shown' && replay && shown.lines?.head ? h('div', { key: 'past', class: 'past' },
      lazy('sums', [replay, time.zone, shown.part], () => sums(shown, replay)),
      filter(shown, replay),
      picture(shown, replay),
      said(shown, replay),
      tables(shown, replay),
      lazy('take', [asked.toString(), replay], () => take_away(shown, replay, host, asked)))
      : h('div', { key: 'past', class: 'past' }, trouble(shown)),
  ];
}

/** @param {Shown} shown @param {Host} host @param {Time} time */
function range(shown, host, time) {
  const { file, from, to, draft, replay } = shown;
  const seen = shown.stage === 'shown' && replay !== null;
  const of_file = file !== '' && seen;
  const preset = to === '' && from.startsWith('-');
  return h('section', { key: 'range', class: 'horizon', 'aria-label': 'Window' },
    h('h2', null, 'Window'),
    h('div', { class: 'chips', role: 'group', 'aria-label': file === '' ? 'The last' : 'The last of the file' }, ...WINDOWS.map((name) =>
      h('button', { type: 'button', class: 'chip', 'aria-pressed': String(preset && from === `-${name}`), on: { click: ['past', 'window', `-${name}`] } }, name))),
    h('form', { class: 'past-range', on: { submit: ['past', 'range'] } },
      field('From', 'from', draft.from ?? (of_file ? when(replay.from, false) : written(from))), ' to ',
      field('To', 'to', draft.to ?? (of_file ? when(replay.to, false) : written(to) || (file === '' ? 'now' : ''))), ' ',
      h('button', { type: 'submit' }, 'Show')),
    file !== '' && h('p', { class: 'after' }, `of ${visible(file)} `,
      from + to !== '' && h('button', { type: 'button', class: 'chip', on: { click: ['past', 'window', ''] } }, 'Whole file'), ' ',
      host.origin !== null && h('button', { type: 'button', class: 'chip', on: { click: ['past', 'daemon'] } }, 'Back to the daemon')),
    preset && file === '' && seen && h('p', { class: 'after' }, `up to ${moment(replay.to - 1, time.now, time.zone, true)} ${zone_name(time.zone)} `,
      h('button', { type: 'button', class: 'chip', on: { click: ['past', 'now'] }, title: 'Move the window up to now' }, 'Now')),
    shown.wrong !== '' && h('p', { class: 'past-wrong', role: 'alert' }, shown.wrong));
}

/** @param {string} label @param {string} name @param {string} value */
function field(label, name, value) {
  return h('input', { type: 'text', class: 'field', 'aria-label': label, autocomplete: 'off', spellcheck: 'false', size: 20, value, on: { input: ['past', 'write', name] } });
}

/** A moment of an address as people write it. @param {string} text */
function written(text) {
  const unix = Date.parse(text) / 1000;
  return text === '' || text.startsWith('-') || Number.isNaN(unix) ? text : when(unix, false);
}

/** @param {Shown} shown @param {State} state */
function what_if(shown, state) {
  const own = shown.lines?.head?.stale_after_secs;
  const off = state.wasm !== 'running' || own === undefined;
  const told = own === undefined ? '' : preset_name(own);
  const presets = own === undefined || HORIZONS.includes(told) ? HORIZONS : [told, ...HORIZONS];
  const chosen = shown.stale_after || told;
  return h('section', { key: 'horizon', class: 'horizon', 'aria-label': 'What if' },
    h('h2', null, 'What if'),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'What if a change had counted for' }, ...presets.map((name) =>
      h('button', { type: 'button', class: 'chip', disabled: off, 'aria-pressed': String(chosen === name), on: { click: ['past', 'horizon', name === told ? '' : name] } },
        name, name === told && h('span', { class: 'chip-note' }, ' daemon’s')))),
    h('form', { class: 'horizon-form', on: { submit: ['past', 'horizon-done'] } },
      h('input', { type: 'text', id: 'horizon', class: 'field', 'aria-label': 'Horizon', disabled: off, autocomplete: 'off', spellcheck: 'false', size: 6, value: chosen })));
}

/** @param {Shown} shown @returns {VNode} */
function trouble(shown) {
  if (shown.stage === 'loading') return h('p', { class: 'past-trouble', role: 'status' }, shown.read === 0 ? 'Reading the history…' : `Reading the history: ${plural(shown.read, 'event')} so far…`);
  const events = shown.lines?.head ? shown.lines.events : 0;
  return h('div', { class: 'past-trouble', role: 'alert' },
    h('p', null, h('strong', null, shown.stage === 'refused' ? `${visible(shown.file)} is refused. ` : 'There is no history to show: '), visible(shown.trouble), '.'),
    shown.stage === 'refused' && events > 0 && h('p', null, h('button', { type: 'button', on: { click: ['past', 'part'] } }, `Show what stands before it: ${plural(events, 'event')}`)),
    shown.stage === 'failed' && h('p', null, h('button', { type: 'button', on: { click: ['past', 'again'] } }, 'Try again')));
}

/** @param {Shown} shown @param {Replay} replay */
function sums(shown, replay) {
  const head = /** @type {import('../types/page').HistoryHead} */ (shown.lines?.head);
  const trial = replay.horizons.length > 1;
  const pruned = head.complete_from_unix;
  const { events } = /** @type {import('./history-lines.js').Lines} */ (shown.lines);
  const part = replay.from > head.from_unix || replay.to < head.to_unix;
  const instances = plural(replay.order.length, 'instance');
  /** @type {[string, (lane: number) => string][]} */
  const rows = [
    ['Ready', (at) => length(replay.sums[at].ready)],
    ['Not ready', (at) => length(replay.sums[at].not_ready)],
    ['Longest not ready', (at) => length(replay.sums[at].longest)],
    ['Flips', (at) => String(replay.sums[at].flips)],
    ['Masked', (at) => length(replay.masked[at])],
    ['Not watched', (at) => length(replay.sums[at].not_watched)],
  ];
  return h('section', { class: 'past-sums', 'aria-label': 'Sums' },
    h('p', { class: 'past-of' }, h('strong', null, `${when(replay.from)} to ${when(replay.to)}`),
      `, ${length(replay.to - replay.from)}: ${part ? instances : `${plural(events, 'event')} of ${instances}`}`,
      head.names !== null && ', and of no others', shown.file !== '' && ` from ${part ? `a part of ${visible(shown.file)}, which has ${plural(events, 'event')}` : visible(shown.file)}`,
      shown.part && h('strong', { class: 'past-part' }, ` Only what stood before the line that was refused, until ${when(replay.known_until)}.`),
      pruned !== null && pruned > replay.from && h('strong', { class: 'past-part', 'data-complete-from': pruned }, ` What was before ${when(pruned)} has been pruned: of that time only the board as it was at the cut is known.`)),
    h('table', null,
      h('caption', { class: 'past-hidden' }, 'Sums'),
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Horizon'), ...rows.map(([name]) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, ...replay.horizons.map((secs, at) => h('tr', { class: at === 0 ? '' : 'past-trial' },
        h('th', { scope: 'row' }, trial && at > 0 ? `What if ${preset_name(secs)}` : `${preset_name(secs)} (the daemon’s)`),
        ...rows.map(([name, of]) => h('td', null, h('span', { class: 'past-key', 'aria-hidden': 'true' }, `${name} `), of(at))))))));
}

/** One after the other: a list of a hundred thousand would be most of what a picture costs. @param {Replay} replay @param {Spans} spans @param {number[]} looks by what a span tells @returns {Painter} */
function painter(replay, spans, looks) {
  return (put) => {
    for (let at = 0; at < spans.length; at++) {
      const span = nth(spans, at);
      put(replay.start(span), replay.end(span), looks[replay.what(span)]);
    }
  };
}

/** @param {Replay} replay @param {Spans} spans */
function strip(replay, spans) {
  return lane(painter(replay, spans, replay.words.map((word) => LOOK_OF[word])), replay.from, replay.to, LOOK_LIST);
}

/** Which instances are shown, and how many that is of how many. @param {Shown} shown @param {Replay} replay */
function filter(shown, replay) {
  const total = replay.order.length;
  const who = stood(replay);
  const chip = (/** @type {import('../types/page').Standing|''} */ standing, /** @type {number} */ count, /** @type {VNode[]} */ ...mark) => h('button', {
    type: 'button', class: `chip is-${standing}`, 'aria-pressed': String(shown.standing === standing), on: { click: ['past', 'standing', standing] },
    title: standing === '' ? '' : 'Stood so at some moment, under a horizon shown',
  }, ...mark, `${standing === '' ? 'All' : STANDING_WORDS[standing]} `, h('b', null, String(count)));
  return h('section', { key: 'filter', class: 'toolbar', 'aria-label': 'Instances' },
    h('input', { type: 'search', id: 'filter', class: 'field', 'aria-label': 'Filter', placeholder: 'Filter by name', value: shown.q, autocomplete: 'off', spellcheck: 'false', on: { input: ['past', 'filter', 'replace'], change: ['past', 'filter', 'push'] } }),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'Stood at some moment' }, chip('', total),
      ...STANDINGS.filter((standing) => who[standing].size > 0 || shown.standing === standing).map((standing) => chip(standing, who[standing].size, icon(standing)))),
    h('p', { class: 'after', role: 'status' }, `${lanes_shown(shown, replay).length.toLocaleString('en')} of ${plural(total, 'instance')} shown`));
}

/** @param {Shown} shown @param {Replay} replay */
function picture(shown, replay) {
  const numbers = lanes_shown(shown, replay);
  const rest = found(shown, replay).length - numbers.length;
  const is_filtered = shown.q !== '' || shown.standing !== '';
  const at = shown.hover ?? shown.at;
  const { from, to } = replay;
  const other = replay.lanes[1];
  return h('section', { key: 'picture', class: 'past-picture', 'aria-label': 'Lanes' }, h('div', { key: 'stage', class: 'past-stage' },
    lazy('lanes', [replay, numbers], () => h('div', { class: 'past-lanes' },
      ...replay.lanes.map((of, index) => lazy(`verdict-${index}`, [of], () => verdict(replay, index))),
      other && lazy('differs', [other], () => row('Differs', '', 'past-differs', lane(painter(replay, other.differences, [0, 0]), from, to, DIFFERENT, 'lane-low'))),
      // Another horizon to try leaves these as they are.
      ...numbers.map((number) => lazy(`instance-${number}`, [replay.lanes[0]], () => instance(replay, number))),
      lazy('axis', [from, to], () => axis(from, to)))),
    h('div', {
      key: 'cursor', class: 'past-cursor', role: 'slider', tabindex: 0, 'aria-label': 'Moment', 'aria-valuemin': from, 'aria-valuemax': last_of(replay), 'aria-valuenow': shown.at ?? last_of(replay),
      'aria-valuetext': spoken(replay, shown.at), 'aria-describedby': 'past-keys',
      on: { pointermove: ['past', 'point'], pointerleave: ['past', 'leave'], click: ['past', 'pin'], keydown: ['past', 'key'] },
    }, shown.at !== null && h('span', { class: 'past-at', vars: place(shown.at, from, to) }),
    at !== null && at !== shown.at && h('span', { class: 'past-at past-hover', vars: place(at, from, to) }))),
    legend(),
    h('p', { key: 'none', class: numbers.length === 0 && is_filtered ? 'past-more' : 'nothing' }, 'No instance matches. ', h('button', { type: 'button', on: { click: ['past', 'unfilter'] } }, 'Show all')),
    h('p', { key: 'more', class: rest > 0 || shown.all ? 'past-more' : 'nothing' },
      shown.all && rest > 0 && `${plural(rest, 'other')} have no lane: the filter finds them. `,
      h('button', { type: 'button', 'aria-expanded': String(shown.all), on: { click: ['past', 'all', !shown.all] } }, shown.all ? 'Fewer instances' : `${plural(rest, 'other instance')}`)));
}

/** @param {Replay} replay @param {number} index */
function verdict(replay, index) {
  const name = preset_name(replay.horizons[index]);
  const [label, look] = index === 0 ? [`Verdict, ${name}`, 'past-own'] : [`What if ${name}`, 'past-what-if'];
  return row(label, '', look, strip(replay, replay.lanes[index].verdict));
}

/** @param {Replay} replay @param {number} number */
function instance(replay, number) {
  const spans = replay.lanes[0].standings[number];
  return row(visible(replay.names[number]), veto_words(replay, number), 'past-instance', strip(replay, spans), shas(replay, spans));
}

/** @param {string} name @param {string} note @param {string} look @param {VNode} lane @param {VNode|false} [below] */
function row(name, note, look, lane, below = false) {
  return h('div', { class: `past-row ${look}` }, h('div', { class: 'past-label', title: name }, h('span', { class: 'past-label-name' }, name), note !== '' && h('span', { class: 'past-note' }, note)), h('div', { class: 'past-lane' }, lane, below));
}

/** @param {Replay} replay @param {number} number */
function veto_words(replay, number) {
  const vetoed = replay.vetoed(number);
  const masked = replay.masked_of(number);
  return [vetoed > 0 && `vetoed ${length(vetoed)}`, masked > 0 && `masked ${length(masked)}`].filter(Boolean).join(', ');
}

/** Which sha is served, where there is room to say it. @param {Replay} replay @param {Spans} spans @returns {VNode} */
function shas(replay, spans) {
  const { from, to } = replay;
  /** @type {{sha: string, start: number, end: number}[]} */
  const runs = [];
  for (let at = 0; at < spans.length; at++) {
    const span = nth(spans, at);
    const sha = replay.word(span) === 'serving' ? replay.sha(span) : null;
    const last = runs[runs.length - 1];
    if (sha !== null && last && last.sha === sha && last.end === replay.start(span)) last.end = replay.end(span);
    else if (sha !== null) runs.push({ sha, start: replay.start(span), end: replay.end(span) });
  }
  return h('div', { class: 'past-shas' }, ...runs.filter(({ start, end }) => end - start > ROOM * (to - from)).map(({ sha, start, end }) =>
    h('span', { vars: { ...place(start, from, to), '--wide': `${(100 * (end - start)) / (to - from)}%` } }, short_sha(visible(sha)))));
}

/** @param {number} from @param {number} to */
function axis(from, to) {
  const { list, whole_days } = ticks(from, to);
  return h('div', { class: 'past-row past-axis', 'aria-hidden': 'true' }, h('div', { class: 'past-label' }, zone_name(zone_minutes(to))),
    h('div', { class: 'past-lane' }, ...list.map((at) => h('span', { class: 'past-tick', vars: place(at, from, to) }, h('span', null, tick(at, whole_days))))));
}

/** @param {number} at @param {boolean} whole_days */
function tick(at, whole_days) {
  const [day, time] = when(at, false).split(' ');
  return whole_days || time === '00:00:00' ? day.slice(5) : time.slice(0, 5);
}

function legend() {
  return lazy('legend', [], () => h('ul', { class: 'past-legend' }, ...LOOK_LIST.map(({ name, top, bottom, words }) =>
    h('li', null, h('svg', { class: 'lane', viewBox: '0 0 28 24', 'aria-hidden': 'true' },
      h('path', { class: `look look-${name}`, d: top === bottom ? `M2 ${top}H26` : `M2 ${top}H26V${bottom}H2z` })), words))));
}

/** How others get it. @param {Shown} shown @param {Replay} replay @param {Host} host @param {URLSearchParams} asked */
function take_away(shown, replay, host, asked) {
  if (shown.file !== '') return h('p', { class: 'after past-take' }, 'Judge it anywhere: ', h('code', null, 'greenlight import FILE --stale-after 1h,15m'));
  const query = new URLSearchParams(asked);
  query.set('from', String(replay.from));
  query.set('to', String(replay.to));
  return h('p', { class: 'after past-take' }, h('a', { href: `${host.origin}/history?${query}`, download: `history-${iso(replay.from).replaceAll(':', '')}.jsonl` }, 'Save this window'),
    ' for a ticket; anybody opens it in this page, offline. Or: ', h('code', null, `greenlight export --from ${iso(replay.from)} --until ${iso(replay.to)} --out incident.jsonl`));
}
