// Exports of histories for the tests of the page: a story that people recognise, and a long one.

export const HOUR = 3600;
export const DAY = 86_400;

/** The lines of an export. Events are `[at, what, fields]`. */
export function exported({ from, to, events, stale_after_secs = HOUR, complete_from_unix = null, schema = 'greenlight.history/1', names = null }) {
  const lines = [{ schema, version: '0.1.0', from_unix: from, to_unix: to, known_until_unix: to, stale_after_secs, complete_from_unix, names, overtaking: [] },
    ...events.map(([at_unix, event, more]) => ({ at_unix, event, ...more })), { end: { events: events.length, next: null } }];
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

export const row = (serving_sha, last_green = serving_sha) => ({ phase: serving_sha === null ? 'building' : 'serving', serving_sha, last_green, last_red_sha: null, last_red_reason: null, last_red_files: [], pending_sha: null, draining: 0 });
export const changed = (at, name, order, what, last_change_unix = at) => [at, 'changed', { name, order, source: 'driver', last_change_unix, row: what }];

/** A day of four slots: `lane` breaks for 25 minutes, then for three hours, of which it blocks one; the daemon is down for half an hour. */
export function story(from, more = {}) {
  const at = (hours) => from + Math.round(hours * HOUR);
  const events = [
    [from, 'started', { watched_until_unix: from - 60, drift_secs: 0 }],
    changed(from, 'dev', 0, row('a1b2c3d4e'), from - 7000),
    changed(from, 'lane', 1, row('9f6e4d5aa'), from - 900),
    changed(from, 'merge', 2, row(null, '77ab012ff'), from - 20 * DAY),
    changed(from, 'feature-x', 3, row(null), from - 60),
    changed(at(3.2), 'dev', 0, row('0d9f3aa10')),
    changed(at(5), 'lane', 1, row(null, '9f6e4d5aa')),
    changed(at(5.42), 'lane', 1, row('c0ffee111')),
    [at(9), 'lapsed', { source: 'ci', names: ['dev'], good_until_unix: at(9) }],
    [at(9.2), 'came_back', { source: 'driver', names: ['dev'] }],
    [at(13.5), 'started', { watched_until_unix: at(13), drift_secs: 0 }],
    [at(13.5) + 4, 'came_back', { source: 'driver', names: ['dev', 'lane'] }],
    changed(at(16), 'lane', 1, row(null, 'c0ffee111')),
    changed(at(19), 'lane', 1, row('beef12300')),
    changed(at(20), 'dev', 0, row('5eaf00d22')),
    [at(22), 'removed', { name: 'feature-x' }],
  ];
  return exported({ from, to: from + DAY, events, ...more });
}
