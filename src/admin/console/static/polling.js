// @ts-check
// Polls while the page is visible, except during a pause that the service has requested.
import { Refusal, unexpectedResponse } from './admin-api.js';
import { button } from './controls.js';
import { byId, el, notify, replaceContent } from './elements.js';
import { endPause, lastPause, mayTry, pauseFor, pauseLeft } from './backoff.js';
import { isSessionHeld } from './session.js';

/** How often a view is refreshed, in milliseconds. */
const EVERY_MS = 5_000;
/** Interval between checks of whether the session is still held, in milliseconds. */
const HELD_MS = 1_000;

/**
 * Runs `refresh` immediately and then periodically until the view ends.
 * @param {() => Promise<unknown>} refresh
 * @param {AbortSignal} signal ends it
 * @param {(refusal: Refusal) => boolean} [handles] shows a permanent refusal and returns true, after which nothing is requested until
 *   `soon` is called; returns false for any other refusal
 * @returns {{ soon: () => void }} `soon` refreshes immediately, or after the pause
 */
export function poll(refresh, signal, handles = () => false) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let running = false;
  let again = false;
  let requestedAt = Number.NEGATIVE_INFINITY;

  const later = (/** @type {number} */ ms) => {
    clearTimeout(timer);
    if (!signal.aborted && !document.hidden) timer = setTimeout(run, ms);
  };

  const run = async (isForced = false) => {
    if (running) {
      again = true;
      return;
    }
    if (signal.aborted || document.hidden) return;
    if (isSessionHeld()) {
      later(HELD_MS);
      return;
    }
    if (!isForced && pauseLeft() > 0) {
      wait();
      return;
    }
    clearTimeout(timer);
    running = true;
    again = false;
    requestedAt = performance.now();
    const before = lastPause();
    try {
      await refresh();
      endPause(before);
    } catch (error) {
      if (signal.aborted) return;
      // Any other error is caused by a bug in this page, or by an unexpected response.
      if (!(error instanceof Refusal)) reportError(error);
      const refusal = error instanceof Refusal ? error : unexpectedResponse();
      if (handles(refusal)) {
        endPause(before);
        showError();
        return;
      }
      if (!refusal.endsSession) pauseFor(refusal);
    } finally {
      running = false;
    }
    if (lastPause()) wait();
    else {
      showError();
      later(again ? 0 : EVERY_MS);
    }
  };

  const wait = () => {
    showError(() => (mayTry() ? void run(true) : notify('The last attempt was just now. Wait a moment.')));
    later(Math.max(pauseLeft(), 1));
  };

  const onVisibilityChange = () => {
    if (document.hidden) clearTimeout(timer);
    else later(Math.max(0, requestedAt + EVERY_MS - performance.now()));
  };
  document.addEventListener('visibilitychange', onVisibilityChange, { signal });
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    showError();
  });
  void run();
  return { soon: () => void run() };
}

/** Shows why polling is paused and when it continues; without `tryNow`, hides this. @param {() => void} [tryNow] */
function showError(tryNow) {
  const bar = byId('polling-error');
  const refusal = lastPause()?.refusal;
  if (!refusal || !tryNow) {
    if (bar.childElementCount > 0) replaceContent(bar);
    return;
  }
  const wasFocused = bar.contains(document.activeElement);
  const again = button('Try now', tryNow);
  replaceContent(
    bar,
    el('p', el('b', errorText(refusal)), ` ${refusal.message} (${refusal.code})`),
    el('p', `Retrying in ${Math.ceil(pauseLeft() / 1_000)} s. `, again),
  );
  if (wasFocused) again.focus();
}

/** @param {Refusal} refusal */
function errorText(refusal) {
  const { status, code, isOwn } = refusal;
  if (refusal.is('api_key_banned')) return 'This key is temporarily banned.';
  if (status === 429)
    return isOwn ? 'This key has used up its quota.' : 'A proxy in front of the service limits requests.';
  const what =
    status === 503 || code === 'no_response'
      ? 'The service is unavailable.'
      : isOwn
        ? 'The service failed to respond.'
        : 'A proxy responds instead of the service.';
  return `${what} What you see may be out of date; the page updates by itself.`;
}
