// The views that are loaded when they are opened: History and Rehearsal.

/** @typedef {import('../types/page').Host} Host */
/** @typedef {import('../types/page').LaterView} LaterView */
/** @typedef {Omit<Host, 'show'> & {show(name: Later, query: Record<string, string>, step: 'push'|'replace'): void}} Shell what is lent to all of them */
/** @typedef {import('../types/page').State} State */
/** @typedef {import('../types/page').Time} Time */
/** @typedef {Exclude<import('../types/page').ViewName, 'live'>} Later */

import { addSheet, h } from './dom.js';

/** @type {Record<Later, () => Promise<{open: (host: Host) => LaterView}>>} */
const MODULES = {
  history: () => import('./history.js'),
  rehearsal: () => import('./rehearsal.js'),
};

export class Views {
  /** @type {Map<Later, LaterView>} */
  #opened = new Map();
  /** Those on their way. @type {Map<Later, Promise<LaterView|null>>} */
  #coming = new Map();
  #host;
  /** What went wrong, by view. @type {Map<Later, string>} */
  #trouble = new Map();

  /** @param {Shell} host */
  constructor(host) {
    this.#host = host;
  }

  /** Loads the view, once. @param {Later} name @returns {Promise<LaterView|null>} */
  async open(name) {
    const coming = this.#coming.get(name) ?? this.#load(name);
    this.#coming.set(name, coming);
    return coming;
  }

  /** @param {Later} name @returns {Promise<LaterView|null>} */
  async #load(name) {
    this.#trouble.delete(name);
    try {
      // Both at once; what is drawn before its sheet is there would jump about.
      const [module] = await Promise.all([MODULES[name](), addSheet('past.css')]);
      const view = module.open({ ...this.#host, show: (query, step) => this.#host.show(name, query, step) });
      this.#opened.set(name, view);
      view.came();
      return view;
    } catch (error) {
      // A later try may find what this one did not.
      this.#coming.delete(name);
      this.#trouble.set(name, error instanceof Error ? error.message : String(error));
      return null;
    } finally {
      this.#host.draw_soon();
    }
  }

  /** @param {Later} name @param {State} state @param {Time} time */
  draw(name, state, time) {
    const view = this.#opened.get(name);
    if (view) return view.draw(state, time);
    const trouble = this.#trouble.get(name);
    return [h('section', { key: 'loading', class: 'loading', role: 'status' },
      h('p', null, trouble === undefined ? 'Loading…' : `This view cannot be loaded: ${trouble}. `),
      trouble !== undefined && h('button', { type: 'button', on: { click: ['view', name] } }, 'Try again'))];
  }

  /** @param {Later} name @param {unknown[]} action @param {Event|undefined} event */
  act(name, action, event) {
    this.#opened.get(name)?.act(action, event);
  }

  /** @param {Later} name */
  came(name) {
    const view = this.#opened.get(name);
    if (view) view.came();
    else void this.open(name);
  }
}

/** How a file begins that a view opens. @type {[import('../types/page').ViewName, RegExp][]} */
const FILES = [['live', /^\s*\{\s*"instances"/], ['history', /"schema":\s*"greenlight\.history\//], ['rehearsal', /"schema":\s*"greenlight\.rehearsal\//]];
/** As much of a file tells what it is. */
const HEAD_BYTES = 4096;

/** Which view opens the file; null: none of these. @param {File} file @returns {Promise<import('../types/page').ViewName|null>} */
export async function view_of_file(file) {
  const [line] = (await file.slice(0, HEAD_BYTES).text()).split('\n', 1);
  return FILES.find(([, head]) => head.test(line))?.[0] ?? null;
}
