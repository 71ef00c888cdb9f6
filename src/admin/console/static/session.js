// @ts-check
// The key, stored only in this tab, because sessionStorage is deleted when the tab is closed, and browsers never send it.

const NAME = 'petstore-console-key';

/** Why the last session ended, as text; shown once at the next sign-in. @type {string | undefined} */
let reason;
/** Number of pending changes and displayed secrets that hold the session. */
let holders = 0;
/** A refused key whose session ends once nothing holds it, and the reason. @type {{ key: string, why: string } | undefined} */
let ending;

/** @returns {string | null} */
export function keyOfTab() {
  return sessionStorage.getItem(NAME);
}

/** @param {string} key */
export function keepKey(key) {
  reason = undefined;
  sessionStorage.setItem(NAME, key);
}

/**
 * Deletes the key and shows the sign-in.
 * @param {string} [why]
 */
export function forgetKey(why) {
  sessionStorage.removeItem(NAME);
  reason = why;
  dispatchEvent(new Event('petstore:session'));
}

/**
 * Deletes a refused key once nothing holds the session, unless the tab has another key by then.
 * @param {string} key
 * @param {string} why
 */
export function endSession(key, why) {
  if (key !== keyOfTab()) return;
  if (holders > 0) ending = { key, why };
  else forgetKey(why);
}

/**
 * Holds the session until the returned function is called, so that a pending response or a displayed secret is not lost. Until then, no
 * view polls, and the browser asks for confirmation before it leaves the page.
 */
export function holdSession() {
  holders += 1;
  return () => {
    holders -= 1;
    const ended = ending;
    if (holders > 0 || !ended) return;
    ending = undefined;
    endSession(ended.key, ended.why);
  };
}

/** Whether something holds the session. */
export function isSessionHeld() {
  return holders > 0;
}

addEventListener('beforeunload', (event) => {
  if (isSessionHeld()) event.preventDefault();
});

export function takeReason() {
  const shown = reason;
  reason = undefined;
  return shown;
}
