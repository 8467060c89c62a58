// Asks the daemon's own policy, compiled to wasm. Not one rule is written here: this file loads it, hands it the board,
// the moment and the horizon, and puts its answers into words of the wire.

/** @typedef {import('../types/page').App} App */
/** @typedef {import('../types/page').Change} Change */
/** @typedef {import('../types/page').Judged} Judged */
/** @typedef {import('../types/page').Renew} Renew */
/** @typedef {import('../types/page').StaleAfter} StaleAfter */
/** @typedef {import('../types/page').Standing} Standing */
/** @typedef {import('./board.js').Board} Board */
/** @typedef {typeof import('./greenlight_wasm.js')} Wasm */
/** @typedef {Pick<Judged, 'order'|'standing'|'confirmed'|'since'|'ages_out'|'flips'>} OfRows */

/** @returns {Promise<Wasm>} */
export async function load_wasm() {
  const wasm = await import('./greenlight_wasm.js');
  await wasm.default();
  return wasm;
}

/** A board inside wasm: read once, then kept up by the same events as the page's own rows. */
export class Policy {
  #snapshot;
  #words;
  /** What was said of all rows, by horizon; it holds from a moment until the next turn that the policy knows of. */
  #kept = new Map();

  /** @param {Wasm} wasm @param {App} app */
  constructor(wasm, app) {
    this.#words = wasm.standingWords();
    this.#snapshot = new wasm.Snapshot(app);
  }

  /** @param {Change|Renew} event */
  apply(event) {
    this.#kept.clear();
    this.#snapshot.apply(event);
  }

  /** Gives the memory back; the policy is of no use afterwards. */
  close() {
    this.#snapshot.free();
  }

  /**
   * @param {number} now Unix seconds; fractions are floored
   * @param {StaleAfter} stale_after
   * @returns {Judged}
   */
  judge(now, stale_after) {
    const verdict = this.#snapshot.glance(now, stale_after);
    return {
      now: Math.floor(now),
      ready: verdict.ready,
      reason: verdict.reason,
      named: verdict.blocking,
      text: verdict.text,
      ...this.#of_rows(now, stale_after),
    };
  }

  /** @param {number} now @param {StaleAfter} stale_after @returns {OfRows} */
  #of_rows(now, stale_after) {
    const kept = this.#kept.get(stale_after);
    if (kept && kept.from <= now && now < kept.until) return kept.of_rows;
    const snapshot = this.#snapshot;
    const words = this.#words;
    const standings = snapshot.standings(now, stale_after);
    const unconfirmed = snapshot.unconfirmed(now);
    const ages_out = snapshot.ages_out(now, stale_after);
    /** Only an open row shows it. @type {Float64Array|null} */
    let since = null;
    /** @type {OfRows} */
    const of_rows = {
      order: snapshot.order(now, stale_after),
      standing: (at) => words[standings[at]],
      confirmed: (at) => unconfirmed[at] === 0,
      since: (at) => (since ??= snapshot.since(now))[at],
      ages_out: (at) => (Number.isNaN(ages_out[at]) ? null : ages_out[at]),
      flips: snapshot.flips(now, stale_after),
    };
    if (this.#kept.size >= HORIZONS_KEPT) this.#kept.clear();
    this.#kept.set(stale_after, { from: Math.floor(now), until: snapshot.next_turn(now, stale_after), of_rows });
    return of_rows;
  }
}

/** The daemon's own, and those that a slider was at last. */
const HORIZONS_KEPT = 8;

/** @type {WeakMap<Board, Judged>} */
const said = new WeakMap();

/**
 * What the daemon itself said in `/app`: for the first paint, and for a browser that cannot run the wasm.
 * @param {Board} board @returns {Judged}
 */
export function as_the_daemon_said(board) {
  const known = said.get(board);
  if (known) return known;
  const { app } = board;
  const rows = app.instances;
  const unconfirmed = new Set(app.readiness.unconfirmed);
  /** @type {Judged} */
  const judged = {
    now: app.now_unix,
    ready: app.readiness.ready,
    reason: app.readiness.reason,
    named: null,
    text: app.readiness.text,
    order: rows.map((_, at) => at),
    standing: (at) => /** @type {Standing} */ (rows[at].standing),
    confirmed: (at) => !unconfirmed.has(rows[at].name),
    since: (at) => rows[at].since_unix ?? rows[at].last_change_unix,
    ages_out: (at) => rows[at].ages_out_unix ?? null,
    flips: app.readiness.flips,
  };
  said.set(board, judged);
  return judged;
}
