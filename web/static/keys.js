// What each key does. Pure.

/** @typedef {{key: string, does: string, action: unknown[]}} Key */

/** @type {Key[]} */
export const KEYS = [
  { key: '/', does: 'Filter instances', action: ['focus', 'filter'] },
  { key: 'h', does: 'Type a horizon', action: ['focus', 'horizon'] },
  { key: 'p', does: 'Pause reordering, or go on', action: ['pause'] },
  { key: 's', does: 'Sort again', action: ['resort'] },
  { key: 'c', does: 'Copy a link to this view', action: ['copy'] },
  { key: 'o', does: 'Open a saved /app, export or record', action: ['pick'] },
  { key: '?', does: 'This help', action: ['help', true] },
];

/**
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean}} event
 * @param {boolean} typing whether the key goes into a field
 * @param {boolean} letters whether single letters are switched on
 * @returns {unknown[]|null}
 */
export function action_of_key(event, typing, letters) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.key === 'Escape') return ['escape'];
  if (typing || !letters) return null;
  return KEYS.find(({ key }) => key === event.key)?.action ?? null;
}
