// The lines of a record as numbers for core: which field is of which kind is written here, what they mean is not.

/** @typedef {import('../types/rehearsal').Line} Line */

import { Wrong } from './wrong.js';

const LARGEST = Number.MAX_SAFE_INTEGER;
/** The words that may stand somewhere; a word crosses as its place. */
const EVENTS = 'header started sigterm exited killed last_words elsewhere expected probe late move tried tick control end'.split(' ');
const ANSWERS = 'ready not_ready refused cut silent fault'.split(' ');
/** What else an answer of each kind says. @type {(string[]|null)[]} */
const DETAILS = [null, null, ['host', 'names'], ['reset', 'closed', 'garbled', 'tls'], ['timeout', 'too_many_requests']];
const CLASSES = 'ok unexpected slow refused cut torn server_error garbled nobody ours'.split(' ');

/** @param {string} field @param {unknown} got @param {string} wanted @returns {never} */
function wrong(field, got, wanted) {
  throw new Wrong(field, got, wanted);
}

/** @param {Line} of @param {string} field @param {number} [least] @param {number} [most] */
function whole(of, field, least = -LARGEST, most = LARGEST) {
  const got = of[field];
  return Number.isSafeInteger(got) && got >= least && got <= most ? got : wrong(field, got, least >= 0 ? `a whole number from ${least}` : 'a whole number');
}

/** @param {Line} of @param {string} field @param {number} [least] @param {number} [most] */
function whole_if_any(of, field, least, most) {
  return of[field] === null || of[field] === undefined ? NaN : whole(of, field, least, most);
}

/** @param {Line} of @param {string} field @returns {string} */
function text(of, field) {
  return typeof of[field] === 'string' ? of[field] : wrong(field, of[field], 'a text');
}

/** @param {Line} of @param {string} field @returns {string|undefined} */
function text_if_any(of, field) {
  return of[field] === null || of[field] === undefined ? undefined : text(of, field);
}

/** @param {Line} of @param {string} field @param {string[]} words */
function word(of, field, words) {
  const place = words.indexOf(text(of, field));
  return place < 0 ? wrong(field, of[field], words.join(', ')) : place;
}

/** @param {Line} of @param {string} field */
function flag(of, field) {
  return typeof of[field] === 'boolean' ? Number(of[field]) : wrong(field, of[field], 'true or false');
}

/** @param {Line} of @param {string} field @returns {Line} */
function object(of, field) {
  return typeof of[field] === 'object' && of[field] !== null ? of[field] : wrong(field, of[field], 'an object');
}

const U16 = 65_535;
const U32 = 4_294_967_295;

/** @param {Line} of @returns {[number[], string]} */
function answer(of) {
  const kind = word(of, 'kind', ANSWERS);
  const details = DETAILS[kind];
  if (kind === 0) text_if_any(of, 'version');
  return [[kind, kind < 2 ? whole(of, 'status', 0, U16) : details ? word(of, 'by', details) : 0], kind === 5 ? text(of, 'code') : ''];
}

/** @param {Line} line @returns {[number[], string]} */
function header(line) {
  const [options, policy, machine] = ['options', 'policy', 'machine'].map((field) => object(line, field));
  const processes = Array.isArray(line.processes) ? line.processes : wrong('processes', line.processes, 'a list');
  for (const one of processes) for (const field of ['name', 'command', 'address', 'ready']) text(one ?? {}, field);
  text(line, 'version');
  text(options, 'path');
  word(options, 'spawn', ['direct', 'shell']);
  for (const [field, most] of /** @type {const} */ ([['cores', U32], ['descriptors', LARGEST], ['descriptors_needed', LARGEST], ['client_ports', U32]])) whole(machine, field, 0, most);
  const full = { silences_to_leave: 3, answers_to_join: 1, hold_last: false, ...policy };
  return [[
    ...['every', 'probe_every', 'probe_timeout', 'lag', 'give_up', 'warm_up', 'tail', 'start_timeout', 'drain_timeout'].map((field) => whole(options, `${field}_us`)),
    whole(options, 'max_slow', 0), whole_if_any(options, 'expect', 0, U16), whole(options, 'busy', 0, U32),
    whole(full, 'silences_to_leave', 1, U32), whole(full, 'answers_to_join', 1, U32), flag(full, 'hold_last'),
    // No name may hold a line's end: a space is refused as well.
  ], processes.flatMap((/** @type {Line} */ one) => [one.name, one.address, one.ready].map((held) => held.replaceAll('\n', ' ') || ' ')).join('\n')];
}

/** @param {Line} line @param {number} kind @returns {[number[], string]} what stands behind its kind and its moment, and its text */
function rest(line, kind) {
  switch (EVENTS[kind]) {
    case 'header': return header(line);
    case 'started': return [[whole(line, 'pid', 0, U32)], ''];
    case 'exited': return [[], text(line, 'exit')];
    case 'last_words': return [[], text(line, 'text')];
    case 'elsewhere': return [[], `${text(line, 'asked').replaceAll('\n', ' ')}\n${text(line, 'found')}`];
    case 'expected': return [[whole(line, 'status', 0, U16)], ''];
    case 'probe': {
      const [numbers, code] = answer(object(line, 'answer'));
      return [[whole(line, 'due_us'), whole_if_any(line, 'sent_us'), whole(line, 'late_us'), ...numbers], code];
    }
    case 'late': {
      const [numbers, code] = answer(object(line, 'answer'));
      return [[whole(line, 'due_us'), ...numbers], code];
    }
    case 'move': {
      const cause = object(line, 'cause');
      const [numbers, code] = answer(cause);
      return [[word(line, 'move', ['join', 'leave']), whole(cause, 'in_a_row', 0, U32), ...numbers], code];
    }
    case 'tried': return [[word(line, 'found', ['open', 'closed', 'silent', 'ours'])], ''];
    case 'tick': return [[
      whole(line, 'tick', 0), whole(line, 'due_us'), whole_if_any(line, 'sent_us'), word(line, 'lane', ['fresh', 'kept']), word(line, 'class', CLASSES),
      whole_if_any(line, 'status', 0, U16), whole_if_any(line, 'connection', 0), whole(line, 'uses', 0, U32), flag(line, 'reopened'),
    ], text_if_any(line, 'error') ?? ''];
    case 'control': return [[whole_if_any(line, 'took_us')], ''];
    case 'end': {
      const how = object(line, 'how');
      const ending = word(how, 'ending', ['complete', 'incomplete', 'interrupted', 'failed']);
      return [[whole(line, 'ticks', 0), ending, ending === 1 ? word(how, 'because', ['never_ready', 'ended_early', 'never_exited']) : 0], ending === 3 ? text(how, 'because') : ''];
    }
    default: return [[], ''];
  }
}

/** @param {Line} line @param {number} kind @returns {string|undefined} */
function named(line, kind) {
  switch (EVENTS[kind]) {
    case 'header': return text(line, 'schema');
    case 'tick': return text_if_any(line, 'process');
    case 'end': return line.how.ending === 'incomplete' ? text(line.how, 'process') : undefined;
    case 'expected': case 'control': return undefined;
    default: return text(line, 'process');
  }
}

/**
 * A line as it crosses. What is no event has no numbers, and its text says why.
 * @param {string} written
 * @returns {{line: Line, bytes: number, numbers: number[], name: string|undefined, text: string}}
 */
export function crossing(written) {
  const bytes = written.length > SURELY_SHORT ? new TextEncoder().encode(written).length : written.length;
  /** @type {Line} */
  let line;
  try {
    line = JSON.parse(written);
    if (typeof line !== 'object' || line === null) wrong('it', line, 'an object');
    const kind = word(line, 'event', EVENTS);
    const moment = EVENTS[kind] === 'header' ? 0 : whole(line, { tick: 'end_us', control: 'due_us' }[/** @type {string} */ (line.event)] ?? 'at_us');
    const [numbers, words] = rest(line, kind);
    return { line, bytes, numbers: [kind, moment, ...numbers], name: named(line, kind), text: words };
  } catch (error) {
    return { line, bytes, numbers: [], name: undefined, text: error instanceof Error ? error.message : String(error) };
  }
}

/** No line of so many characters is too long in bytes. */
const SURELY_SHORT = 10_000;
