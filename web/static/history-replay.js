// What a replay came to, out of the numbers that wasm gives. Nothing is judged here.

/** @typedef {import('./greenlight_past.js').History} Wasm */
/** @typedef {import('../types/page').PastSums} PastSums */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('./history-lines.js').Lines} Lines */

/** Numbers of a span: kind, from, to, what, who, sha. */
const SPAN = 6;
const SUMS = 5;

/**
 * What one horizon comes to.
 * @typedef {object} Lane
 * @property {Float64Array} told
 * @property {number} first the number of its first span: those of two lanes are told apart
 * @property {number} sums_at where its sums begin
 * @property {number[]} verdict
 * @property {number[][]} standings
 * @property {number[]} differences
 */

/** @param {Float64Array} told @param {number} first @param {number} names @returns {Lane} */
function lane(told, first, names) {
  /** @type {Lane} */
  const of = { told, first, sums_at: told.length - 1 - SUMS * (1 + names), verdict: [], standings: Array.from({ length: names }, () => []), differences: [] };
  for (let at = 0; at < of.sums_at; at += SPAN) {
    const kind = told[at];
    if (kind === 0) of.verdict.push(first + at);
    else if (kind === 1) of.standings[told[at + 4]].push(first + at);
    else of.differences.push(first + at);
  }
  return of;
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
  const of_name = (lane, number, which) => lane.told[lane.sums_at + SUMS * (1 + number) + which];
  /** @param {number} number */
  const vetoed = (number) => of_name(own, number, 1);
  /** @param {number} number */
  const masked_of = (number) => of_name(own, number, 2);
  const there = names.map((_, number) => number).filter((number) => own.standings[number].length > 0);
  const order = there.sort((a, b) => vetoed(b) - vetoed(a) || masked_of(b) - masked_of(a) || (names[a] < names[b] ? -1 : 1));
  return {
    from, to, known_until: own.told[edge - 1], horizons, names, order, lanes,
    verdicts: lanes.map((lane) => lane.verdict),
    standings: lanes.map((lane) => lane.standings),
    differences: other?.differences ?? [],
    sums: lanes.map(({ told, sums_at: at }) => ({ ready: told[at], not_ready: told[at + 1], not_watched: told[at + 2], flips: told[at + 3], longest: told[at + 4] })),
    masked: lanes.map((lane) => names.reduce((sum, _name, number) => sum + of_name(lane, number, 2), 0)),
    start: (span) => of(span, 1),
    end: (span) => of(span, 2),
    word: (span) => words[of(span, 3)],
    sha: (span) => shas[of(span, 5)] ?? null,
    blame: (span) => {
      const [more, ...numbers] = wasm.blame(of(span, 4));
      return { names: numbers.map((number) => names[number]), more };
    },
    vetoed, masked_of,
  };
}

/** The one of these spans in which a moment lies. @param {Replay} replay @param {number[]} spans @param {number} moment */
export function span_at(replay, spans, moment) {
  const place = place_at(replay, spans, moment);
  const span = spans[place];
  return span !== undefined && replay.start(span) <= moment ? span : undefined;
}

/** The place of the first span that ends after a moment. @param {Replay} replay @param {number[]} spans @param {number} moment */
export function place_at(replay, spans, moment) {
  let from = 0;
  let to = spans.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (replay.end(spans[middle]) > moment) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** So many instances have a lane before anybody asks for more, and so many at most. */
const FEW = 12;
const MANY = 200;

/** Numbers of the instances that have a lane. @param {{all: boolean}} shown @param {Replay} of */
export function lanes_shown(shown, of) {
  return of.order.slice(0, shown.all ? MANY : FEW);
}
