// One instance: its line in the table, and all that is known of it when it is opened. Pure.

/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {import('../types/page').Row} Row */
/** @typedef {import('../types/page').Judged} Judged */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {import('./dom.js').VNode} VNode */

import { h, lazy } from './dom.js';
import { icon } from './icons.js';
import { STANDING_WORDS, age, age_holds, clipped, countdown, day_number, moment, short_horizon, short_sha, visible, zone_name } from './words.js';

/** What fits a cell; the whole text stands in the details. */
const REASON_LENGTH = 120;
const PHASE_LENGTH = 40;
const SHA_LENGTH = 20;

/** @param {State} state @param {Judged} judged @param {string} name @param {Time} time @returns {VNode[]} */
export function row_nodes(state, judged, name, time) {
  const board = /** @type {NonNullable<State['board']>} */ (state.board);
  const at = board.index.get(name);
  if (at === undefined) return [];
  const row = board.rows[at];
  const standing = judged.standing(at);
  const was = state.what_if && state.judged && state.judged.standing(at) !== standing ? state.judged.standing(at) : null;
  const confirmed = judged.confirmed(at);
  const ages_out = judged.ages_out(at);
  const open = state.view.open === name;
  const kept = lines.get(row);
  const of = [standing, was, confirmed, ages_out, open, time.zone, day_number(time.now, time.zone)];
  let line = kept && kept.from <= judged.now && judged.now < kept.until && of.every((part, i) => part === kept.of[i]) ? kept.line : null;
  if (!line) {
    const secs = judged.now - row.last_change_unix;
    line = line_node(row, standing, was, confirmed, age(secs), ages_out_text(standing, ages_out, time), ages_out, open);
    lines.set(row, { of, from: judged.now, until: judged.now + age_holds(secs), line });
  }
  return open ? [line, details(state, judged, row, at, time)] : [line];
}

/** The lines as they were shown last, and until when their texts hold: a second's tick makes only those that change. @type {WeakMap<Row, {of: unknown[], from: number, until: number, line: VNode}>} */
const lines = new WeakMap();

/**
 * @param {Row} row @param {Standing} standing @param {Standing|null} was @param {boolean} confirmed @param {string} unchanged
 * @param {string} out when it ages out, in words @param {number|null} ages_out @param {boolean} open
 */
function line_node(row, standing, was, confirmed, unchanged, out, ages_out, open) {
  const { name } = row;
  return lazy(`row ${name}`, [row, standing, was, confirmed, unchanged, out, open], () => {
    const bad = standing !== 'serving' && row.last_red_reason !== null;
    return h('tr', { role: 'row', key: `row ${name}`, class: `row is-${standing}${was ? ' changed' : ''}`, 'data-instance': name, 'data-standing': standing },
      h('th', { role: 'rowheader', scope: 'row', class: 'cell-name' },
        h('button', { type: 'button', class: 'opener', 'aria-expanded': String(open), on: { click: ['open', open ? '' : name] } }, icon('chevron'), h('span', null, visible(name)))),
      h('td', { role: 'cell', class: 'cell-standing' }, h('span', { class: `standing is-${standing}` }, icon(standing), STANDING_WORDS[standing]),
        was !== null && h('span', { class: 'was' }, `was ${STANDING_WORDS[was].toLowerCase()}`),
        !confirmed && h('span', { class: 'unconfirmed' }, 'unconfirmed')),
      h('td', { role: 'cell', class: 'cell-phase' }, clipped(visible(row.phase), PHASE_LENGTH)),
      sha_cell('cell-serving', row.serving_sha, 'serving '),
      sha_cell('cell-green', row.last_green, ''),
      h('td', { role: 'cell', class: `cell-red${bad ? ' bad' : ''}` }, row.last_red_reason === null
        ? (row.last_red_sha === null ? none() : sha(row.last_red_sha))
        : h('span', { class: 'reason' }, clipped(visible(row.last_red_reason.trim()), REASON_LENGTH))),
      h('td', { role: 'cell', class: 'cell-age' }, unchanged),
      h('td', { role: 'cell', class: 'cell-out' }, ages_out !== null && h('span', { class: 'card-word' }, 'ages out '), out === '' ? none() : out),
    );
  });
}

/** @param {string} standing @param {number|null} ages_out @param {Time} time */
function ages_out_text(standing, ages_out, time) {
  if (ages_out !== null) return moment(ages_out, time.now, time.zone);
  if (standing === 'stale_degraded') return 'aged out';
  return standing === 'live_degraded' ? 'never' : '';
}

/** @param {string} look @param {string|null} text @param {string} before words that only a card needs */
function sha_cell(look, text, before) {
  return h('td', { role: 'cell', class: look }, text === null ? none() : [h('span', { class: 'card-word' }, before), sha(text)]);
}

/** @param {string} text */
function sha(text) {
  return h('code', { title: visible(text) }, clipped(visible(short_sha(text)), SHA_LENGTH));
}

function none() {
  return h('span', { class: 'none' }, '–');
}

/** @param {State} state @param {Judged} judged @param {Row} row @param {number} at @param {Time} time */
function details(state, judged, row, at, time) {
  const zone = zone_name(time.zone);
  /** @param {number} unix */
  const when = (unix) => `${moment(unix, time.now, time.zone, true)} ${zone} (${age(judged.now - unix)} ago)`;
  const ages_out = judged.ages_out(at);
  /** @type {[string, VNode|string][]} */
  const facts = [
    ['Standing', `${STANDING_WORDS[judged.standing(at)]}, since ${when(judged.since(at))}`],
    ['Vouched for', vouched(row, judged, at, time)],
    ['Ages out', ages_out === null ? ages_out_text(judged.standing(at), null, time) || '–' : `${moment(ages_out, time.now, time.zone, true)} ${zone} (in ${countdown(ages_out - judged.now)})`],
    ['Last change', when(row.last_change_unix)],
    ['Last report', `${when(row.last_report_unix)} by source ${visible(row.source)}`],
    ['Phase', visible(row.phase)],
    ['Serving', whole(row.serving_sha)],
    ['Last green', whole(row.last_green)],
    ['Last red', whole(row.last_red_sha)],
    ['Pending', whole(row.pending_sha)],
    ['Draining', String(row.draining)],
  ];
  if (row.proxy_port !== null) facts.push(['Proxy port', String(row.proxy_port)]);
  if (row.public_host !== null) facts.push(['Public host', visible(row.public_host)]);
  if (row.expires_at !== null) facts.push(['Expires', `${moment(row.expires_at, time.now, time.zone)} ${zone}`]);
  return h('tr', { role: 'row', class: 'details', key: `details ${row.name}` },
    h('td', { role: 'cell', colspan: 8 },
      h('dl', null, ...facts.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value)))),
      row.last_red_reason !== null && h('div', { class: 'whole-reason' }, h('h3', null, 'Why it is red'), h('pre', { tabindex: 0 }, row.last_red_reason.split('\n').map(visible).join('\n'))),
      row.last_red_files.length > 0 && h('div', { class: 'files' }, h('h3', null, 'Files'), h('ul', null, ...row.last_red_files.map((file) => h('li', null, h('code', null, visible(file))))))));
}

/** @param {string|null} text */
function whole(text) {
  return text === null ? '–' : h('code', null, visible(text));
}

/** @param {Row} row @param {Judged} judged @param {number} at @param {Time} time */
function vouched(row, judged, at, time) {
  const source = `source ${visible(row.source)}`;
  if (row.good_until_unix === null) return `by ${source}, ${row.good_for_secs === 'forever' ? 'for ever' : 'until it reports again or the daemon restarts'}`;
  const until = `${moment(row.good_until_unix, time.now, time.zone, true)} ${zone_name(time.zone)}`;
  const good_for = typeof row.good_for_secs === 'number' ? ` (a report is good for ${short_horizon(row.good_for_secs)})` : '';
  return judged.confirmed(at) ? `by ${source} until ${until}${good_for}` : `by nobody: ${source} lapsed at ${until}${good_for}`;
}
