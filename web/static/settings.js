// What this browser remembers of its reader's wishes.

const KEYS_SETTING = 'greenlight.single-letter-keys';

/** Whether single letters are keys. */
export function single_letter_keys() {
  try {
    return localStorage.getItem(KEYS_SETTING) !== 'off';
  } catch {
    return true;
  }
}

/** @param {boolean} on */
export function keep_single_letter_keys(on) {
  try {
    localStorage.setItem(KEYS_SETTING, on ? 'on' : 'off');
  } catch {
    // A browser that keeps nothing: the choice lasts as long as this tab.
  }
}
