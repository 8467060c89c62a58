// What a replay came to, out of the numbers that wasm gives. Nothing is judged here.

/** @typedef {import('./greenlight_past.js').History} Wasm */
/** @typedef {import('../types/page').PastSums} PastSums */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('../types/page').Spans} Spans */
/** @typedef {import('./history-lines.js').Lines} Lines */

/** Numbers before those of the names, of a name, and of a span: from, to, what, of what. */
const HEAD = 8;
const OF_NAME = 6;
const SPAN = 4;

/**
 * What one horizon comes to.
 * @typedef {object} Lane
 * @property {Float64Array} told
 * @property {number} first the number of its first span: those of two lanes are told apart
 * @property {Spans} verdict
 * @property {Spans[]} standings by number of a name
 * @property {Spans} differences
 */

/** @param {Float64Array} told @param {number} first @param {number} names @returns {Lane} */
function lane(told, first, names) {
  let next = first + HEAD + OF_NAME * names;
  /** @param {number} length @returns {Spans} */
  const take = (length) => {
    const spans = { first: next, length };
    next += SPAN * length;
    return spans;
  };
  const verdict = take(told[6]);
  const standings = Array.from({ length: names }, (_, number) => take(told[HEAD + OF_NAME * number + 5]));
  return { told, first, verdict, standings, differences: take(told[7]) };
}

/** One of them. @param {Spans} spans @param {number} at */
export function nth(spans, at) {
  return spans.first + SPAN * at;
}

/**
 * What a window was under a horizon.
 * @param {Wasm} wasm @param {Lines} lines @param {number} from @param {number} to @param {number|null} secs
 * @returns {Replay}
 */
export function replay(wasm, lines, from, to, secs) {
  const names = [...lines.names.keys()];
  return replayed(wasm, lines, from, to, [secs], names, [lane(wasm.replay(from, to, secs ?? Infinity, names.length), 0, names.length)]);
}

/** The same, and beside it what it would have been under another horizon. @param {Wasm} wasm @param {Lines} lines @param {Replay} own @param {number|null} secs @returns {Replay} */
export function compared(wasm, lines, own, secs) {
  const { from, to, names } = own;
  const [first] = own.lanes;
  const other = lane(wasm.compare(secs ?? Infinity, names.length), first.told.length, names.length);
  return replayed(wasm, lines, from, to, [own.horizons[0], secs], names, [first, other]);
}

/** @param {Wasm} wasm @param {Lines} lines @param {number} from @param {number} to @param {(number|null)[]} horizons @param {string[]} names @param {Lane[]} lanes @returns {Replay} */
function replayed(wasm, lines, from, to, horizons, names, lanes) {
  const words = wasm.words();
  const shas = [...lines.shas.keys()];
  const [own, other] = lanes;
  const edge = own.told.length;
  /** @param {number} span @param {number} which */
  const of = (span, which) => (span < edge ? own.told[span + which] : other.told[span - edge + which]);
  /** @param {Lane} lane @param {number} number @param {number} which */
  const of_name = (lane, number, which) => lane.told[HEAD + OF_NAME * number + which];
  /** @param {number} number */
  const vetoed = (number) => of_name(own, number, 1);
  /** @param {number} number */
  const masked_of = (number) => of_name(own, number, 2);
  const there = names.map((_, number) => number).filter((number) => own.standings[number].length > 0);
  const order = there.sort((a, b) => vetoed(b) - vetoed(a) || masked_of(b) - masked_of(a) || (names[a] < names[b] ? -1 : 1));
  return {
    from, to, known_until: own.told[0], horizons, names, order, lanes, words,
    sums: lanes.map(({ told }) => ({ ready: told[1], not_ready: told[2], not_watched: told[3], flips: told[4], longest: told[5] })),
    masked: lanes.map((lane) => names.reduce((sum, _name, number) => sum + of_name(lane, number, 2), 0)),
    start: (span) => of(span, 0),
    end: (span) => of(span, 1),
    what: (span) => of(span, 2),
    word: (span) => words[of(span, 2)],
    sha: (span) => shas[of(span, 3)] ?? null,
    blame: (span) => {
      const [more, ...numbers] = wasm.blame(of(span, 3));
      return { names: numbers.map((number) => names[number]), more };
    },
    vetoed, masked_of,
  };
}

/** The last second of a window; of one without a length, where it is. @param {{from: number, to: number}} window */
export function last_of({ from, to }) {
  return Math.max(from, to - 1);
}

/** The one of these spans in which a moment lies. @param {Replay} replay @param {Spans} spans @param {number} moment */
export function span_at(replay, spans, moment) {
  const place = place_at(replay, spans, moment);
  if (place === spans.length) return undefined;
  const span = nth(spans, place);
  return replay.start(span) <= moment ? span : undefined;
}

/** The place of the first span that ends after a moment. @param {Replay} replay @param {Spans} spans @param {number} moment */
export function place_at(replay, spans, moment) {
  let from = 0;
  let to = spans.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (replay.end(nth(spans, middle)) > moment) to = middle;
    else from = middle + 1;
  }
  return from;
}
