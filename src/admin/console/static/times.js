// @ts-check
// Relative times according to the clock of the service, because the clock of this machine may be wrong.
import { el, setText } from './elements.js';

/** Clocks that differ by less than this are treated as equal, in milliseconds. */
const SKEW_MS = 2_000;
/** How far the service's clock is ahead of this machine's, in milliseconds. */
let aheadMs = 0;

/** Sets the time of the service from the `Date` of a response. @param {string | null} date */
export function learnTime(date) {
  const serverMs = Date.parse(date ?? '');
  // The field has whole seconds, so a smaller difference is not significant.
  if (Number.isFinite(serverMs))
    aheadMs = Math.abs(serverMs - Date.now()) < SKEW_MS ? 0 : serverMs - Date.now();
}

/** The current time of the service, in milliseconds since the Unix epoch. */
export function now() {
  return Date.now() + aheadMs;
}

/** @type {readonly (readonly [limit: number, unit: number, name: string])[]} */
const STEPS = [
  [60_000, 1_000, 's'],
  [3_600_000, 60_000, 'min'],
  [86_400_000, 3_600_000, 'h'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
];

/** A duration in its largest unit; below three days, in days and hours: `12 min`, `1 d 23 h`. @param {number} ms */
export function span(ms) {
  const [, unit, name] = STEPS.find(([limit]) => ms < limit) ?? [0, 1_000, 's'];
  const hours = name === 'd' && ms < 3 * unit ? Math.floor((ms % unit) / 3_600_000) : 0;
  return `${Math.floor(ms / unit)} ${name}${hours > 0 ? ` ${hours} h` : ''}`;
}

/** @param {string} instant */
export function ago(instant) {
  const ms = now() - Date.parse(instant);
  if (Math.abs(ms) < 10_000) return ms < -SKEW_MS ? 'in a few seconds' : 'just now';
  return ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`;
}

const EXACT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'UTC',
});

/** @param {string} instant */
export function exactly(instant) {
  return `${EXACT.format(new Date(instant))} UTC`;
}

/** The tooltip with the exact time of the hovered or focused element. It is a child of the body, so that no container clips it. */
const exact = el('div.exact', { id: 'exact', role: 'tooltip', hidden: true });

/** @param {Event} event */
function showExact({ type, target }) {
  const at = type !== 'focusout' && target instanceof Element ? target.closest('time.when') : null;
  exact.hidden = at === null;
  if (at === null) return;
  at.setAttribute('aria-describedby', exact.id);
  setText(exact, exactly(at.getAttribute('datetime') ?? ''));
  document.body.append(exact);
  const { left, top, bottom } = at.getBoundingClientRect();
  const above = top - exact.offsetHeight - 4;
  exact.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - exact.offsetWidth - 8))}px`;
  exact.style.top = `${above < 0 ? bottom + 4 : above}px`;
}

for (const type of ['pointerover', 'focusin', 'focusout']) document.addEventListener(type, showExact);
// The tooltip would not move with its element.
addEventListener('scroll', () => (exact.hidden = true), { capture: true, passive: true });
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') exact.hidden = true;
});

/** An instant as `12 min ago`, with the exact time on hover and focus; `refreshTimes` updates it. @param {string | null} instant null for never */
export function when(instant) {
  if (instant === null) return 'never';
  return el('time.when', { datetime: instant, tabindex: '0' }, ago(instant));
}

/** The time at which something is due; `now` once it has passed. @param {string} instant */
export function whenDue(instant) {
  return el('time.when.due', { datetime: instant, tabindex: '0' }, dueIn(instant));
}

/** @param {string} instant */
function dueIn(instant) {
  return Date.parse(instant) - now() < SKEW_MS ? 'now' : ago(instant);
}

/** Updates all displayed times. */
export function refreshTimes() {
  for (const shown of document.querySelectorAll('time.when')) {
    const instant = shown.getAttribute('datetime') ?? '';
    setText(shown, shown.classList.contains('due') ? dueIn(instant) : ago(instant));
  }
}
