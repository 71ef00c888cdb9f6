// @ts-check
// Times in words, by the clock of the service: that of this machine may be wrong.
import { el, setText } from './elements.js';

/** Clocks that differ by less are the same, in milliseconds. */
const SKEW_MS = 2_000;
/** How far the service's clock is ahead of this machine's, in milliseconds. */
let aheadMs = 0;

/** Learns the time of the service from the `Date` of a response. @param {string | null} date */
export function learnTime(date) {
  const serverMs = Date.parse(date ?? '');
  // The field has whole seconds: what is nearer is no difference.
  if (Number.isFinite(serverMs))
    aheadMs = Math.abs(serverMs - Date.now()) < SKEW_MS ? 0 : serverMs - Date.now();
}

/** Now, in milliseconds since the Unix epoch, as the service has it. */
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

/** A duration in its largest unit, and in hours where it is at least a day: `12 min`, `1 d 23 h`. @param {number} ms */
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

/** The exact instant of the time that is pointed at or focused, within the window whatever surrounds that time. */
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
// It would stay where its time was.
addEventListener('scroll', () => (exact.hidden = true), { capture: true, passive: true });
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') exact.hidden = true;
});

/** An instant as `12 min ago`, with the exact one on hover and focus; `refreshTimes` updates it. @param {string | null} instant null for never */
export function when(instant) {
  if (instant === null) return 'never';
  return el('time.when', { datetime: instant, tabindex: '0' }, ago(instant));
}

/** When something is due: `now`, once its instant has passed. @param {string} instant */
export function whenDue(instant) {
  return el('time.when.due', { datetime: instant, tabindex: '0' }, dueIn(instant));
}

/** @param {string} instant */
function dueIn(instant) {
  return Date.parse(instant) - now() < SKEW_MS ? 'now' : ago(instant);
}

/** Updates all shown instants. */
export function refreshTimes() {
  for (const shown of document.querySelectorAll('time.when')) {
    const instant = shown.getAttribute('datetime') ?? '';
    setText(shown, shown.classList.contains('due') ? dueIn(instant) : ago(instant));
  }
}
