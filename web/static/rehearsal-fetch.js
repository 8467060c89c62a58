// Fetches a record that an address names, from where one may come, and no more of it than a record has.

import { is_a_copy } from './daemon.js';
import { visible } from './words.js';

/** A record beyond this is not one that a rehearsal wrote. */
export const RECORD_BYTES = 256 * 1024 * 1024;
export const TOO_BIG = 'this file is too big for a record';

/** @param {string} named */
export async function fetched(named) {
  const url = URL.canParse(named, location.href) ? new URL(named, location.href) : null;
  if (!url || !(url.origin === location.origin || (is_a_copy() && url.protocol === 'https:'))) {
    throw new Error(`${visible(named)} is not fetched: a record comes from this page’s own origin${is_a_copy() ? ' or by https' : ''}. Save it and open the file`);
  }
  const answer = await fetch(url, { cache: 'no-store' }).catch(() => null);
  if (!answer?.ok) throw new Error(`${visible(named)} cannot be had: ${answer ? `the answer is ${answer.status}` : 'nobody answers, or not to this page'}`);
  return answer.body ? text_of(answer.body, RECORD_BYTES) : '';
}

/** The whole of a text that is no longer than it may be; what is longer is read no further. @param {ReadableStream<Uint8Array>} body @param {number} most bytes */
export async function text_of(body, most) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > most) {
      void reader.cancel();
      throw new Error(TOO_BIG);
    }
    text += decoder.decode(value, { stream: true });
  }
}
