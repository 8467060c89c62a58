// What a replay came to, out of the numbers that wasm gives. Nothing is judged here.

/** @typedef {import('./greenlight_past.js').History} Wasm */
/** @typedef {import('../types/page').PastSums} PastSums */
/** @typedef {import('../types/page').Replay} Replay */
/** @typedef {import('./history-lines.js').Lines} Lines */

/** Numbers of a span: kind, lane, from, to, what, who, sha. */
const SPAN = 7;
const SUMS = 5;

/**
 * @param {Wasm} wasm @param {Lines} lines @param {number} from @param {number} to @param {(number|null)[]} horizons
 * @returns {Replay}
 */
export function replay(wasm, lines, from, to, horizons) {
  const names = [...lines.names.keys()];
  const told = wasm.replay(from, to, Float64Array.from(horizons, (secs) => secs ?? Infinity), names.length);
  const words = wasm.words();
  const shas = [...lines.shas.keys()];
  const lanes = horizons.length;
  const of_lane = SUMS * (1 + names.length);
  const sums_at = told.length - 1 - lanes * of_lane;
  const verdicts = horizons.map(() => /** @type {number[]} */ ([]));
  const standings = horizons.map(() => names.map(() => /** @type {number[]} */ ([])));
  /** @type {number[]} */
  const differences = [];
  for (let at = 0; at < sums_at; at += SPAN) {
    if (told[at] === 0) verdicts[told[at + 1]].push(at);
    else if (told[at] === 1) standings[told[at + 1]][told[at + 5]].push(at);
    else differences.push(at);
  }
  /** @param {number} lane @param {number} number @param {number} which */
  const of_name = (lane, number, which) => told[sums_at + lane * of_lane + SUMS * (1 + number) + which];
  /** @param {number} number */
  const vetoed = (number) => of_name(0, number, 1);
  /** @param {number} number */
  const masked_of = (number) => of_name(0, number, 2);
  const there = names.map((_, number) => number).filter((number) => standings[0][number].length > 0);
  const order = there.sort((a, b) => vetoed(b) - vetoed(a) || masked_of(b) - masked_of(a) || (names[a] < names[b] ? -1 : 1));
  return {
    from, to, known_until: told[told.length - 1], horizons, names, order, verdicts, standings, differences,
    sums: horizons.map((_, lane) => {
      const at = sums_at + lane * of_lane;
      return { ready: told[at], not_ready: told[at + 1], not_watched: told[at + 2], flips: told[at + 3], longest: told[at + 4] };
    }),
    masked: horizons.map((_, lane) => names.reduce((sum, _name, number) => sum + of_name(lane, number, 2), 0)),
    start: (span) => told[span + 2],
    end: (span) => told[span + 3],
    word: (span) => words[told[span + 4]],
    sha: (span) => shas[told[span + 6]] ?? null,
    blame: (span) => {
      const [more, ...numbers] = wasm.blame(told[span + 5]);
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
