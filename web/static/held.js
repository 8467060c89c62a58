// Whether somebody reads or aims at the rows, so that they keep their places.

let pointer_in_rows = false;
let focus_in_rows = false;

/** The events that tell. */
export const TELLING = ['pointermove', 'pointerleave', 'focusin', 'focusout'];

/** What one of them leads to. @param {Event} event */
export function is_held(event) {
  const inside = event.target instanceof Element && event.target.closest('tbody') !== null;
  // A move of the pointer, not of the page beneath it: what shifts must not let go of what somebody aims at.
  if (event.type === 'pointermove') pointer_in_rows = inside;
  if (event.type === 'pointerleave') pointer_in_rows = false;
  if (event.type === 'focusin') focus_in_rows = inside;
  if (event.type === 'focusout') focus_in_rows = false;
  return pointer_in_rows || focus_in_rows;
}
