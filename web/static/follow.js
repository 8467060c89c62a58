// What the daemon says, brought into one board: the snapshot, then its events, each applied once and in order.

/** @typedef {import('../types/page').App} App */
/** @typedef {import('../types/page').Beat} Beat */
/** @typedef {import('../types/page').Change} Change */
/** @typedef {import('../types/page').FromStream} FromStream */
/** @typedef {import('../types/page').Renew} Renew */
/** @typedef {typeof import('./greenlight_wasm.js')} Wasm */

import { apply_change, apply_renew, new_board } from './board.js';
import { fetch_app } from './daemon.js';
import { Policy, as_the_daemon_said } from './policy.js';

/**
 * @typedef {{
 *   installed: (app: App) => void,
 *   changed: () => void,
 *   beat: (beat: Beat) => void,
 *   failed: () => void,
 *   trouble: (text: string) => void,
 * }} Told
 */

/** Beyond so many events a new snapshot is less work. */
const WAITING = 100;

export class Follower {
  /** @type {import('./board.js').Board|null} */
  board = null;
  /** @type {Policy|null} */
  #policy = null;
  /** @type {Wasm|null} */
  #wasm = null;
  /** The rules could not be loaded: only snapshots tell what rows amount to. */
  #without = false;
  /** What was heard before the rules came. @type {(Change|Renew)[]} */
  #waiting = [];
  #asking = false;
  #ask_again = false;
  /** What was heard while a snapshot was on its way, which may or may not be in it. @type {(Change|Renew)[]} */
  #meanwhile = [];
  #origin;
  #told;

  /** @param {string|null} origin @param {Told} told */
  constructor(origin, told) {
    this.#origin = origin;
    this.#told = told;
  }

  /** From now on the policy itself judges. @param {Wasm} wasm */
  use(wasm) {
    if (this.board) this.#policy = new Policy(wasm, app_of(this.board));
    this.#wasm = wasm;
    for (const event of this.#waiting) this.#apply(event);
    this.#waiting = [];
    this.#told.changed();
  }

  /** There will be no policy: what was heard meanwhile is asked for, as is everything from now on. */
  go_without() {
    this.#without = true;
    if (this.#waiting.length > 0) void this.refresh();
    this.#waiting = [];
  }

  /** @param {number} now @param {import('../types/page').StaleAfter} stale_after */
  judge(now, stale_after) {
    if (this.#policy) return this.#policy.judge(now, stale_after);
    return this.board && stale_after === undefined ? as_the_daemon_said(this.board) : null;
  }

  /** Takes a snapshot as the whole truth. @param {App} app */
  install(app) {
    // Before anything is replaced: a snapshot that the policy refuses must not half arrive.
    const policy = this.#wasm ? new Policy(this.#wasm, app) : null;
    this.#policy?.close();
    this.#policy = policy;
    this.board = new_board(app);
    this.#told.installed(app);
  }

  /** Asks for the snapshot again. */
  async refresh() {
    if (this.#origin === null) return;
    if (this.#asking) {
      this.#ask_again = true;
      return;
    }
    this.#asking = true;
    this.#meanwhile = [];
    try {
      this.install(await fetch_app(this.#origin));
      for (const event of this.#meanwhile) {
        if (this.#wasm) this.#apply(event);
        else if (!this.#without) this.#wait_with(event);
        else this.#ask_again ||= this.#is_news(event);
      }
    } catch (error) {
      this.#told.trouble(error instanceof Error ? error.message : String(error));
    }
    this.#asking = false;
    if (this.#ask_again) {
      this.#ask_again = false;
      await this.refresh();
    }
  }

  /** @param {FromStream} message */
  hear(message) {
    switch (message.kind) {
      case 'open':
        break;
      case 'error':
        this.#told.failed();
        break;
      case 'reset':
        void this.refresh();
        break;
      case 'joined':
        this.#hear_event(message.renew);
        this.#hear_beat(message.beat);
        break;
      case 'beat':
        this.#hear_beat(message.beat);
        break;
      case 'change':
        this.#hear_event(message.change);
        break;
      case 'renew':
        this.#hear_event(message.renew);
        break;
    }
  }

  /** @param {Change|Renew} event */
  #hear_event(event) {
    if (this.#asking) this.#meanwhile.push(event);
    else if (this.#without) void this.refresh();
    else if (!this.#wasm) this.#wait_with(event);
    // Rows of an event carry no judgement: without the policy only a snapshot tells the whole.
    if (!this.board || !this.#wasm) return;
    this.#apply(event);
    this.#told.changed();
  }

  /** A beat of a board that is not ours: something was missed, or another daemon is there. @param {Beat} beat */
  #hear_beat(beat) {
    const board = this.board;
    const same = board !== null && place(beat.id).boot === place(board.id).boot;
    const missed = board !== null && !(same && place(beat.id).revision <= board.revision);
    if (same) Object.assign(board.app, { store: beat.store ?? board.app.store, prober: beat.prober ?? board.app.prober });
    if (board === null || missed || this.#without) void this.refresh();
    this.#told.beat(beat);
  }

  /** The rules are on their way, and rows of an event carry no judgement. @param {Change|Renew} event */
  #wait_with(event) {
    this.#waiting.push(event);
    if (this.#waiting.length < WAITING) return;
    this.#waiting = [];
    void this.refresh();
  }

  /** A renewal is known to be news or not only row by row. @param {Change|Renew} event */
  #is_news(event) {
    const board = this.board;
    return board !== null && 'revision' in event && place(event.id).boot === place(board.id).boot && event.revision > board.revision;
  }

  /** @param {Change|Renew} event */
  #apply(event) {
    const board = this.board;
    if (!board || ('revision' in event && !this.#is_news(event))) return;
    try {
      // The policy first: an event that it refuses leaves both as they were, and the snapshot is asked for instead.
      this.#policy?.apply(event);
    } catch {
      void this.refresh();
      return;
    }
    if ('revision' in event) apply_change(board, event);
    else apply_renew(board, event);
  }
}

/** @param {string} id @returns {{boot: string, revision: number}} */
function place(id) {
  const dot = id.lastIndexOf('.');
  return { boot: id.slice(0, dot), revision: Number(id.slice(dot + 1)) };
}

/** @param {import('./board.js').Board} board @returns {App} */
function app_of(board) {
  return { ...board.app, instances: board.rows, revision: board.revision, id: board.id };
}
