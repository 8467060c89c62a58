// What is said of the moment under the cursor of the History view. Pure.

/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('./history.js').Shown} Shown */

import { h, lazy } from './dom.js';
import { lanes_shown } from './history-filter.js';
import { span_at } from './history-replay.js';
import { PAST_WORDS, blamed, length, verdict_words, when } from './history-words.js';
import { icon } from './icons.js';
import { short_sha, spoken_horizon, visible } from './words.js';

/** The same in one text. @param {Replay} replay @param {number|null} at */
export function spoken(replay, at) {
  return at === null ? 'none chosen' : `${when(at)}. ${replay.horizons.map((secs, lane) => `${lane === 0 ? '' : `What if ${spoken_horizon(secs)}: `}${verdict_words(replay, span_at(replay, replay.lanes[lane].verdict, at))}`).join('. ')}`;
}

/** Everything at the moment under the cursor. @param {Shown} shown @param {Replay} replay */
export function said(shown, replay) {
  const at = shown.hover ?? shown.at;
  if (at === null) {
    return h('section', { key: 'said', class: 'past-said', 'aria-label': 'At the cursor' },
      shown.outside !== null && h('p', { class: 'past-outside', role: 'status' }, `${when(shown.outside)} is outside the window shown.`),
      h('p', { id: 'past-keys', class: 'after' },
      'Point at the lanes, or choose a moment with the arrow keys: Shift with them goes from change to change, Page Up and Page Down go further, Home and End to the ends.'));
  }
  return lazy('said', [replay, at, lanes_shown(shown, replay), shown.hover === null], () => h('section', { class: 'past-said', 'aria-label': 'At the cursor', 'data-at': at },
    h('h2', null, when(at), shown.hover === null && h('button', { type: 'button', class: 'chip', on: { click: ['past', 'escape'] } }, 'Clear')),
    ...replay.horizons.map((secs, lane) => {
      const span = span_at(replay, replay.lanes[lane].verdict, at);
      const word = span === undefined ? 'not_watching' : replay.word(span);
      return h('p', { class: lane === 0 ? 'past-verdict' : 'past-verdict past-trial', 'data-said': word },
        icon(word === 'ready' ? 'ready' : word === 'not_watching' ? 'unknown' : 'not_ready'), ' ',
        h('strong', null, verdict_words(replay, span)), ` under ${spoken_horizon(secs)}`,
        span !== undefined && `, for ${length(replay.end(span) - replay.start(span))} since ${when(replay.start(span), false)}`);
    }),
    difference(replay, at),
    h('ul', { class: 'past-standings' }, ...lanes_shown(shown, replay).map((number) => standing(replay, number, at)))));
}

/** @param {Replay} replay @param {number} at */
function difference(replay, at) {
  const other = replay.lanes[1];
  const span = other && span_at(replay, other.differences, at);
  return span !== undefined && h('p', { class: 'past-trial' }, `The horizons differ because of ${blamed(replay, span)}.`);
}

/** @param {Replay} replay @param {number} number @param {number} at */
function standing(replay, number, at) {
  const [span, trial] = replay.lanes.map(({ standings }) => span_at(replay, standings[number], at));
  const name = h('b', null, visible(replay.names[number]));
  if (span === undefined) return h('li', { class: 'none' }, name, ' was not on the board');
  const word = replay.word(span);
  const other = trial === undefined ? word : replay.word(trial);
  const sha = replay.sha(span);
  return h('li', { 'data-standing': word }, h('span', { class: `standing is-${word}` }, icon(word === 'not_watching' ? 'unknown' : word), PAST_WORDS[word]), ' ', name,
    sha !== null && h('code', null, ` ${short_sha(visible(sha))}`),
    other !== word && h('span', { class: 'was' }, `would be ${PAST_WORDS[other].toLowerCase()}`));
}
