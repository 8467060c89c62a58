// The picture of a rehearsal: everything on one axis of time. Pure. All that is drawn is said in words beside it.

/** @typedef {import('../types/rehearsal').Known} Known */
/** @typedef {import('../types/rehearsal').Shown} Shown */
/** @typedef {import('./dom.js').VNode} VNode */

import { h, lazy } from './dom.js';
import { answer_time, columns } from './rehearsal-record.js';
import { at_moment, length, moment } from './rehearsal-words.js';
import { visible } from './words.js';

const WIDTH = 1000;
/** As many columns share the width; what falls into one is drawn as its least, its middle and its most. */
const COLUMNS = 250;
const LABEL = 18;
const BAND = 10;
const LATENCY = 76;
/** The latency's scale: from 0.1 ms to 10 ms, and to 10 s at most where it is needed. */
const LEAST_US = 100;
const MOST_DECADES = 5;
const MARKS = /** @type {Record<string, [string, number, number]>} */ ({ ready: ['ready', 9, 4], not_ready: ['no', 0, 13], refused: ['no', 0, 13], cut: ['no', 0, 13], silent: ['silent', 0, 13], fault: ['fault', 4, 5] });

/** @param {Shown} shown @param {number} at_us */
export function picture(shown, at_us) {
  const record = /** @type {Known} */ (shown.record);
  const { from_us, to_us } = shown;
  const share = (at_us - from_us) / (to_us - from_us);
  return h('section', { key: 'picture', class: 'roll-picture', 'aria-label': 'Timeline' },
    h('div', { class: 'toolbar' },
      h('h2', null, 'Timeline'), legend(shown),
      h('span', { class: 'chips' }, ...['Zoom in', 'Zoom out', 'Whole'].map((name, at) =>
        h('button', { type: 'button', class: 'chip', disabled: at > 0 && from_us === record.from_us && to_us === record.to_us, on: { click: ['past', 'zoom', [0.25, 4, Infinity][at]] } }, name)))),
    h('div', {
      class: 'roll-plot', id: 'roll-plot', role: 'slider', tabindex: 0, 'aria-label': 'Moment', 'aria-valuemin': Math.floor(record.from_us / 1000), 'aria-valuemax': Math.ceil(record.to_us / 1000),
      'aria-valuenow': Math.round(at_us / 1000), 'aria-valuetext': `${moment(at_us)}. ${at_moment(shown, at_us).join('. ')}`,
      on: { pointermove: ['past', 'point'], pointerleave: ['past', 'leave'], click: ['past', 'point'], keydown: ['past', 'key'] },
    },
    lazy('lanes', [record, shown.trial, from_us, to_us], () => lanes(shown)),
    share >= 0 && share <= 1 ? h('div', { key: 'cursor', class: 'roll-cursor', vars: { '--at': `${share * 100}%` } }) : h('div', { key: 'cursor', class: 'nothing' })),
    h('div', { class: 'roll-moment' }, h('h3', null, `At ${moment(at_us)}`), h('ul', null, ...at_moment(shown, at_us).map((line) => h('li', null, line)))));
}

/** @param {Shown} shown */
function legend(shown) {
  const kinds = ['process', 'told to stop', 'draining', 'in rotation', ...(shown.tries ? ['what if in', 'what if unknown'] : [])];
  return h('p', { class: 'roll-legend', 'aria-hidden': 'true' }, ...kinds.map((name) => h('span', null, h('i', { class: `roll-key roll-key-${name.replaceAll(' ', '-')}` }), name)));
}

/** @param {Shown} shown */
function lanes(shown) {
  const record = /** @type {Known} */ (shown.record);
  const { from_us, to_us } = shown;
  /** @param {number} us */
  const x = (us) => Math.round(((Math.min(Math.max(us, from_us), to_us) - from_us) / (to_us - from_us)) * WIDTH * 10) / 10;
  /** @param {number} us */
  const is_seen = (us) => us >= from_us && us <= to_us;
  /** @type {(VNode|null)[]} */
  const drawn = [];
  /** @type {(VNode|null)[]} */
  const labels = [];
  let y = 0;
  /** @param {string} text @param {number} [at] */
  const label = (text, at) => labels.push(h('span', { class: at === undefined ? 'roll-name' : at > WIDTH * 0.8 ? 'roll-at roll-left' : 'roll-at', vars: { '--at': `${(at ?? 0) / 10}%`, '--y': `${y}px` } }, text));
  /** @param {string} look @param {number} from @param {number} to @param {number} top @param {number} height */
  const band = (look, from, to, top, height) => {
    if (to > from_us && from < to_us && x(to) > x(from)) drawn.push(h('rect', { class: look, x: x(from), y: top, width: Math.round((x(to) - x(from)) * 10) / 10, height }));
  };
  /** One path for all marks of a look. @param {Record<string, string>} paths @param {string} look @param {number} us @param {number} top @param {number} height */
  const mark = (paths, look, us, top, height) => {
    if (is_seen(us)) paths[look] = `${paths[look] ?? ''}M${x(us)} ${top}v${height}`;
  };
  /** @param {Record<string, string>} paths */
  const draw = (paths) => Object.entries(paths).forEach(([look, d]) => drawn.push(h('path', { class: `roll-mark roll-${look}`, d })));

  record.processes.forEach((process, place) => {
    label(visible(process.name));
    const events = [...(record.by.sigterm ?? []), ...(record.by.exited ?? []), ...(record.by.killed ?? [])].filter((one) => one.process === process.name && is_seen(one.at_us)).sort((a, b) => a.at_us - b.at_us);
    let last = -Infinity;
    for (const one of events) {
      if (x(one.at_us) - last > 90 && x(one.at_us) > 40) {
        label(one.event === 'sigterm' ? 'SIGTERM' : one.event === 'killed' ? 'killed' : visible(one.exit), x(one.at_us));
        last = x(one.at_us);
      }
    }
    y += LABEL;
    const { turns } = process;
    turns.forEach((turn, at) => band(`roll-band roll-is-${turn.doing.replaceAll(' ', '-')}`, turn.at_us, turns[at + 1]?.at_us ?? to_us, y, BAND));
    drawn.push(...events.map((one) => h('path', { class: `roll-mark roll-${one.event}`, d: `M${x(one.at_us)} ${y - 4}v${BAND + 8}` })));
    y += BAND + 2;
    for (const [{ shifts: all }, look] of /** @type {const} */ ([[shown.recorded, 'roll-in'], ...(shown.tries ? [/** @type {const} */ ([shown.trial, 'roll-if'])] : [])])) {
      const shifts = all[place];
      shifts.forEach((shift, at) => {
        if (shift.to > 0) band(`roll-band ${shift.to === 1 ? look : 'roll-vague'}`, shift.at_us, shifts[at + 1]?.at_us ?? to_us, y, BAND);
      });
      y += BAND + 2;
    }
    /** @type {Record<string, string>} */
    const marks = {};
    for (const probe of record.by.probe ?? []) {
      const [look, top, height] = MARKS[probe.answer.kind];
      if (probe.process === process.name) mark(marks, look, probe.at_us, y + top, height);
    }
    for (const late of record.by.late ?? []) if (late.process === process.name) mark(marks, 'late', late.at_us, y + 4, 5);
    draw(marks);
    y += 20;
  });

  label(shown.tries ? 'misses; what if: nobody, unknown' : 'misses');
  y += LABEL;
  /** @type {Record<string, string>} */
  const marks = {};
  for (const tick of record.misses) mark(marks, `miss-${tick.class === 'nobody' || tick.class === 'ours' || tick.class === 'slow' ? tick.class : 'lost'}`, tick.due_us, y, 14);
  if (shown.tries) for (const tick of shown.trial.untold) mark(marks, tick.unknown ? 'unknown' : 'nobody', tick.at_us, y + (tick.unknown ? 22 : 17), tick.unknown ? 6 : 11);
  drawn.push(h('path', { class: 'roll-base', d: `M0 ${y + 14.5}h${WIDTH}` }));
  draw(marks);
  y += shown.tries ? 34 : 20;

  label('answer time: least, middle, most');
  y += LABEL;
  const longest = record.ticks.reduce((most, tick) => Math.max(most, tick.end_us - tick.due_us), record.sums.control_max_us);
  const decades = Math.min(Math.max(Math.ceil(Math.log10(longest / LEAST_US)), 2), MOST_DECADES);
  drawn.push(...latency(record, shown, y, decades));
  for (let decade = 1; decade < decades; decade++) labels.push(h('span', { class: 'roll-scale', vars: { '--y': `${y + LATENCY * (1 - decade / decades)}px` } }, length(LEAST_US * 10 ** decade)));
  y += LATENCY;
  if (shown.tries && shown.trial.holds_until < to_us) drawn.push(h('rect', { class: 'roll-beyond', x: x(shown.trial.holds_until), y: 0, width: WIDTH - x(shown.trial.holds_until), height: y }));
  return h('div', { class: 'roll-lanes', key: 'lanes' },
    h('svg', { class: 'roll-svg', viewBox: `0 0 ${WIDTH} ${y}`, height: y, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...drawn),
    ...labels, axis(from_us, to_us));
}

/** @param {Known} record @param {Shown} shown @param {number} top @param {number} decades @returns {VNode[]} */
function latency(record, { from_us, to_us }, top, decades) {
  /** @param {number} us */
  const y = (us) => Math.round((top + LATENCY * (1 - Math.min(Math.max(Math.log10(us / LEAST_US), 0), decades) / decades)) * 10) / 10;
  const wide = WIDTH / COLUMNS;
  let range = '';
  let middle = '';
  columns(record.ticks, from_us, to_us, COLUMNS, answer_time).forEach((some, at) => {
    if (some.length === 0) return;
    const [least, half, most] = [some[0], some[some.length >> 1], /** @type {number} */ (some.at(-1))].map(y);
    range += `M${at * wide} ${most}h${wide}V${least + 1}h${-wide}z`;
    middle += `M${at * wide} ${half}h${wide}`;
  });
  let echo = '';
  columns(record.by.control ?? [], from_us, to_us, COLUMNS, (one) => one.took_us).forEach((some, at) => {
    if (some.length > 0) echo += `M${at * wide} ${y(/** @type {number} */ (some.at(-1)))}h${wide}`;
  });
  return [
    h('path', { class: 'roll-base', d: Array.from({ length: decades }, (_, decade) => `M0 ${top + LATENCY * (1 - (decade + 1) / decades)}h${WIDTH}`).join('') }),
    h('path', { class: 'roll-range', d: range }), h('path', { class: 'roll-mark roll-echo', d: echo }), h('path', { class: 'roll-mark roll-middle', d: middle }),
  ];
}

/** @param {number} from_us @param {number} to_us */
function axis(from_us, to_us) {
  const rough = (to_us - from_us) / 6;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * size).find((wide) => wide >= rough) ?? rough;
  const marks = [];
  for (let at = Math.ceil(from_us / step) * step; at <= to_us; at += step) marks.push(at);
  const digits = Math.max(0, Math.min(3, 6 - Math.floor(Math.log10(step))));
  return h('div', { class: 'roll-axis' }, ...marks.map((at) => h('span', { vars: { '--at': `${((at - from_us) / (to_us - from_us)) * 100}%` } }, `${(at / 1e6).toFixed(digits)} s`)));
}
