// What is wrong with a field of a line, in words.

/** A wrong value that is longer is not repeated. */
const SHOWN = 80;

export class Wrong extends Error {
  /** @param {string} field @param {unknown} got @param {string} wanted */
  constructor(field, got, wanted) {
    const text = JSON.stringify(got) ?? 'missing';
    super(`${field} is ${text.length > SHOWN ? 'something else' : text}, ${wanted} is wanted`);
  }
}
