// What the verdict is, in sentences. Pure; no standing or verdict is decided here.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('../types/page').Judged} Judged */
/** @typedef {import('../types/page').Row} Row */
/** @typedef {import('../types/page').Word} Word */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {import('./board.js').Board} Board */

import { is_known } from './alive.js';
import { age, clipped, moment, plural, spoken, visible, zone_name } from './words.js';

/** A banner is read at a glance; the whole reason stands in the row's details. */
const REASON_LENGTH = 200;

export const WORDS = { ready: 'Ready', not_ready: 'Not ready', unknown: 'Unknown' };

/** The daemon's overlay outside the rule; this page cannot judge it, only repeat it. @param {State} state */
export function shutting_down(state) {
  return state.saved === '' && state.beat?.reason === 'shutting_down' && is_known(state.phase);
}

/** @param {State} state @returns {Word} */
export function word(state) {
  if (!is_known(state.phase) || !state.judged) return 'unknown';
  if (shutting_down(state)) return 'not_ready';
  return state.judged.ready ? 'ready' : 'not_ready';
}

/** @param {State} state @param {Time} time @returns {string} */
export function headline(state, time) {
  const judged = state.judged;
  switch (state.phase) {
    case 'checking':
      return 'Checking…';
    case 'unknown':
    case 'asleep':
    case 'reconnecting':
    case 'starting':
    case 'nothing':
      if (is_known(state.phase) && judged) break;
      return judged ? `Unknown, as of ${moment(judged.now, time.now, time.zone)} ${zone_name(time.zone)}` : 'Unknown';
    case 'live':
    case 'saved':
      break;
  }
  return WORDS[word(state)];
}

/** Why, in one or two sentences; the first names what is bad. @param {State} state @param {Time} time @returns {string} */
export function because(state, time) {
  const { board, judged } = state;
  if (!board || !judged) return state.trouble || 'Asking the daemon…';
  if (!is_known(state.phase)) return `${lost(state)} It was ${judged.ready ? 'ready' : 'not ready'} then: ${verdict_text(board, judged, time, 'past')}`;
  if (shutting_down(state)) return 'The daemon is shutting down.';
  return verdict_text(board, judged, time);
}

/** @param {State} state */
function lost(state) {
  if (state.phase === 'checking') return 'This tab has just woken up.';
  if (state.phase === 'asleep') return 'This tab is asleep: it stops listening a minute after it is hidden.';
  return 'The daemon cannot be heard.';
}

/**
 * @param {Board} board @param {Judged} judged @param {Time} time
 * @param {'present'|'past'} tense what is past promises nothing
 * @returns {string}
 */
export function verdict_text(board, judged, time, tense = 'present') {
  switch (judged.reason) {
    case 'nothing_serving':
      return full_stop(capital(visible(judged.text)));
    case 'live_degraded':
      return named_text(board, judged, time, tense).trim() || full_stop(capital(visible(judged.text)));
    default:
      return ready_text(board, judged);
  }
}

/** @param {Board} board @param {Judged} judged @param {Time} time @param {'present'|'past'} tense */
function named_text(board, judged, time, tense) {
  const at = judged.named === null ? undefined : board.index.get(judged.named);
  if (at === undefined) return '';
  const row = board.rows[at];
  const ages_out = judged.ages_out(at);
  const until = ages_out === null || tense === 'past' ? '' : ` Stops blocking ${moment(ages_out, time.now, time.zone)} ${zone_name(time.zone)}.`;
  const others = count(judged, board.rows.length).live_degraded - 1;
  const also = others > 0 ? ` ${plural(others, 'other')} ${others === 1 ? 'is' : 'are'} degraded too.` : '';
  return ` ${row_text(row, judged, at)}${until}${also}`;
}

/** @param {Row} row @param {Judged} judged @param {number} at */
export function row_text(row, judged, at) {
  const name = visible(row.name);
  if (!judged.confirmed(at) && row.serving_sha !== null) {
    const good_for = typeof row.good_for_secs === 'number' ? `good for ${age(row.good_for_secs)}` : 'good until a restart';
    const silent = age(judged.now - row.last_report_unix);
    return `${name} is unconfirmed: source ${visible(row.source)} has been silent for ${silent} (its report was ${good_for}).`;
  }
  const reason = row.last_red_reason === null ? '' : visible(row.last_red_reason.trim());
  return reason === '' ? `${name} is degraded.` : `${name} is degraded: ${full_stop(clipped(reason, REASON_LENGTH))}`;
}

/** @param {Board} board @param {Judged} judged */
function ready_text(board, judged) {
  const total = board.rows.length;
  const counts = count(judged, total);
  const rest = [];
  if (counts.stale_degraded > 0) rest.push(`${counts.stale_degraded} stale`);
  if (counts.never_green > 0) rest.push(`${counts.never_green} never green`);
  const serving = total === counts.serving && total > 1 ? `All ${total} instances serve.` : `${counts.serving} of ${plural(total, 'instance')} ${counts.serving === 1 ? 'serves' : 'serve'}.`;
  return rest.length === 0 ? serving : `${serving} Not counted: ${rest.join(', ')}.`;
}

/** How many rows have each standing. @param {Judged} judged @param {number} total @returns {Record<Standing, number>} */
export function count(judged, total) {
  const known = counted.get(judged.order);
  if (known) return known;
  const counts = { live_degraded: 0, serving: 0, stale_degraded: 0, never_green: 0 };
  for (let at = 0; at < total; at++) counts[judged.standing(at)] += 1;
  counted.set(judged.order, counts);
  return counts;
}

/** By the order, which is the same array until some standing changes. @type {WeakMap<object, Record<Standing, number>>} */
const counted = new WeakMap();

/**
 * Whether the daemon's own answer is the same, and where it is not, why that may be.
 * @param {State} state @param {Time} time
 */
export function agreement(state, time) {
  const { beat, board, judged } = state;
  if (!is_known(state.phase) || state.saved !== '' || !beat || !judged || !board) return '';
  const code = beat.ready ? 200 : 503;
  const ready = word(state) === 'ready';
  if (beat.ready === ready) return `the daemon says ${code} too`;
  const secs = Math.max(0, time.now - beat.now_unix_ms / 1000);
  if (beat.id !== board.id) return `the daemon says ${code}, of revision ${visible(beat.id)}; this page is at ${visible(board.id)}`;
  if (Math.abs(time.skew_ms) > 1000) return `the daemon said ${code} ${age(secs)} ago; this browser's clock is ${skew(time.skew_ms)} off`;
  return `the daemon said ${code} ${age(secs)} ago`;
}

/** `+0.3 s`. @param {number} ms */
export function skew(ms) {
  const secs = ms / 1000;
  const size = Math.abs(secs);
  return `${secs < 0 ? '−' : '+'}${size < 10 ? `${size.toFixed(1)} s` : age(size)}`;
}

/** What differs under the what-if horizon, by name. @param {State} state @returns {{name: string, at: number}[]} */
export function differences(state) {
  const { board, judged, what_if } = state;
  if (!board || !judged || !what_if) return [];
  const known = differing.get(what_if.order);
  if (known && known.from === judged.order) return known.found;
  const found = [];
  for (let i = 0; i < what_if.order.length; i++) {
    const at = what_if.order[i];
    if (what_if.standing(at) !== judged.standing(at)) found.push({ name: board.rows[at].name, at });
  }
  differing.set(what_if.order, { from: judged.order, found });
  return found;
}

/** @type {WeakMap<object, {from: object, found: {name: string, at: number}[]}>} */
const differing = new WeakMap();

/** @param {State} state @param {Time} time @returns {string} */
export function title(state, time) {
  const mark = { ready: '✓', not_ready: '✗', unknown: '?' }[word(state)];
  const count = state.judged && state.board ? state.judged : null;
  const named = count?.named && word(state) === 'not_ready' ? `: ${visible(count.named)}` : '';
  const which = state.saved === '' ? '' : ' (saved)';
  return `${mark} ${headline(state, time)}${named}${which} · Greenlight`;
}

/** @param {string} text */
function full_stop(text) {
  return /[.…!?]$/.test(text) ? text : `${text}.`;
}

/** @param {string} text */
function capital(text) {
  return text.replace(/^./u, (first) => first.toUpperCase());
}

