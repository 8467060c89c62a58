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

export class Follower {
  /** @type {import('./board.js').Board|null} */
  board = null;
  /** @type {Policy|null} */
  #policy = null;
  /** @type {Wasm|null} */
  #wasm = null;
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
    this.#wasm = wasm;
    if (this.board) this.#policy = new Policy(wasm, app_of(this.board));
    this.#told.changed();
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
      for (const event of this.#meanwhile) this.#apply(event);
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
    if (!this.board) return;
    this.#apply(event);
    this.#told.changed();
    if (!this.#wasm) void this.refresh();
  }

  /** A beat of a board that is not ours: something was missed, or another daemon is there. @param {Beat} beat */
  #hear_beat(beat) {
    const board = this.board;
    const same = board !== null && place(beat.id).boot === place(board.id).boot;
    const missed = board !== null && !(same && place(beat.id).revision <= board.revision);
    if (board === null || missed || !this.#wasm) void this.refresh();
    this.#told.beat(beat);
  }

  /** @param {Change|Renew} event */
  #apply(event) {
    const board = this.board;
    if (!board) return;
    if ('revision' in event) {
      if (place(event.id).boot !== place(board.id).boot || event.revision <= board.revision) return;
      apply_change(board, event);
    } else {
      apply_renew(board, event);
    }
    this.#policy?.apply(event);
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
