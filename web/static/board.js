// The rows that the page holds, in the daemon's order, kept up by its events. What they amount to is policy.js's affair.

/** @typedef {import('../types/page').App} App */
/** @typedef {import('../types/page').Row} Row */
/** @typedef {import('../types/page').Change} Change */
/** @typedef {import('../types/page').Renew} Renew */

/**
 * `rows` is replaced row by row, never edited, so that an unchanged row is the same object from render to render.
 * @typedef {{app: App, rows: Row[], index: Map<string, number>, revision: number, id: string}} Board
 */

/** @param {App} app @returns {Board} */
export function new_board(app) {
  return {
    app,
    rows: app.instances,
    index: index_of(app.instances),
    revision: app.revision,
    id: app.id,
  };
}

/** Removals first; a row that is not there is appended, one that is there is replaced where it stands.
 * @param {Board} board @param {Change} change */
export function apply_change(board, change) {
  if (change.removed.length > 0) {
    const gone = new Set(change.removed);
    board.rows = board.rows.filter((row) => !gone.has(row.name));
    board.index = index_of(board.rows);
  }
  for (const row of change.rows) {
    const at = board.index.get(row.name);
    if (at === undefined) {
      board.index.set(row.name, board.rows.length);
      board.rows.push(row);
    } else {
      board.rows[at] = row;
    }
  }
  board.revision = change.revision;
  board.id = change.id;
}

/** An entry for a source holds for all its rows. @param {Board} board @param {Renew} renew */
export function apply_renew(board, renew) {
  if (renew.sources.length > 0) {
    const by_source = new Map(renew.sources.map((entry) => [entry.source, entry]));
    board.rows.forEach((row, at) => {
      const entry = by_source.get(row.source);
      if (entry) board.rows[at] = renewed(row, entry);
    });
  }
  for (const entry of renew.rows) {
    const at = board.index.get(entry.name);
    if (at !== undefined) board.rows[at] = renewed(board.rows[at], entry);
  }
}

/** A renewal that is older than what the row has is late news. @param {Row} row @param {import('../types/page').Renewal} entry @returns {Row} */
function renewed(row, entry) {
  if (entry.last_report_unix < row.last_report_unix) return row;
  const { last_report_unix, good_for_secs, good_until_unix } = entry;
  return { ...row, last_report_unix, good_for_secs, good_until_unix };
}

/** @param {Row[]} rows */
function index_of(rows) {
  return new Map(rows.map((row, at) => [row.name, at]));
}

/**
 * The `/app` in a file that somebody saved, or words on why it is not one.
 * @param {string} text
 * @returns {App}
 */
export function read_saved(text) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('this file is not JSON');
  }
  const app = /** @type {Partial<App>|null} */ (value);
  if (typeof app !== 'object' || app === null || !Array.isArray(app.instances)) {
    throw new Error('this file is not an /app snapshot: it has no list "instances"');
  }
  if (typeof app.schema !== 'string' || !app.schema.startsWith('greenlight.app/')) {
    throw new Error('this file is not a Greenlight /app snapshot: its "schema" should be greenlight.app/1');
  }
  if (typeof app.now_unix !== 'number' || typeof app.readiness !== 'object') {
    throw new Error('this /app snapshot is cut: "now_unix" or "readiness" is missing');
  }
  return /** @type {App} */ (app);
}
