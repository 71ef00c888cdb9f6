// @ts-check
// What a client uses: both windows now, each minute since this tab looked at it, and each day as the service keeps them.
import { choice } from './fields.js';
import { el, number, put, say } from './elements.js';
import { Meter, Plot } from './plots.js';
import { now, span } from './times.js';

/** How many minutes are plotted at most. */
const MOST_MINUTES = 60;
const MINUTE_MS = 60_000;

/** Requests by minute, by client, since this tab was opened. @type {Map<string, Map<number, number>>} */
const seen = new Map();

export class ClientUsage {
  days = 30;

  /** @param {string} clientId @param {() => void} wanted is called when other days are to be shown */
  constructor(clientId, wanted) {
    const minutes = seen.get(clientId) ?? new Map();
    seen.set(clientId, minutes);
    this.minutes = minutes;
    this.minute = new Meter('This minute');
    this.day = new Meter('Today (UTC)');
    this.resets = el('p', { class: 'note' });
    this.now = el('div', { class: 'meters' }, this.minute.element, this.day.element, this.resets);
    this.byMinute = new Plot({
      id: 'by-minute',
      title: 'By minute',
      note: 'Since this page was opened: the service keeps no minutes that are over.',
      unit: 'Minute (UTC)',
    });
    this.byDay = new Plot({
      id: 'by-day',
      title: 'By day',
      note: 'Requests admitted in each UTC day.',
      unit: 'Day (UTC)',
    });
    const range = choice(
      'days',
      [
        ['7', '7 days'],
        ['30', '30 days'],
        ['90', '90 days'],
      ],
      '30',
    );
    range.addEventListener('change', () => {
      this.days = Number(range.value);
      wanted();
    });
    put(this.byDay.tools, el('label', {}, el('span', { class: 'visually-hidden' }, 'Days to show'), range));
    this.deprecated = el('section', { class: 'card', 'aria-labelledby': 'deprecated', hidden: true });
  }

  /** @param {any} client with its usage */
  show({ windows, perMinute, perDay, days, deprecatedCalls }) {
    const [minute, day] = ['minute', 'day'].map((name) =>
      windows.find((/** @type {any} */ one) => one.name === name),
    );
    this.minute.show(minute);
    this.day.show(day);
    say(
      this.resets,
      [minute && `The minute is full again in ${left(minute)}`, day && `the day in ${left(day)}.`]
        .filter(Boolean)
        .join(', '),
    );
    this.#count(minute);
    this.byMinute.show(this.#lastMinutes(), perMinute);
    this.byDay.show(
      days.toReversed().map((/** @type {any} */ { date, requests }) => ({ label: date, value: requests })),
      perDay,
    );
    this.deprecated.hidden = deprecatedCalls.length === 0;
    put(
      this.deprecated,
      el('h2', { id: 'deprecated' }, 'Deprecated operations'),
      el('p', { class: 'note' }, 'It still calls what will be removed.'),
      el(
        'ul',
        {},
        deprecatedCalls.map((/** @type {any} */ one) =>
          el(
            'li',
            {},
            el('code', {}, one.operation),
            ` ${number(one.calls)} calls, the last on ${one.lastDay}`,
          ),
        ),
      ),
    );
  }

  /** @param {{ used: number, resetsAt: string } | undefined} minute */
  #count(minute) {
    if (!minute) return;
    const start = Date.parse(minute.resetsAt) - MINUTE_MS;
    this.minutes.set(start, Math.max(minute.used, this.minutes.get(start) ?? 0));
    for (const old of this.minutes.keys())
      if (old <= start - MOST_MINUTES * MINUTE_MS) this.minutes.delete(old);
  }

  #lastMinutes() {
    const newest = Math.max(...this.minutes.keys());
    const oldest = Math.min(...this.minutes.keys(), newest - 14 * MINUTE_MS);
    return Array.from({ length: (newest - oldest) / MINUTE_MS + 1 }, (_, at) => {
      const start = oldest + at * MINUTE_MS;
      return { label: new Date(start).toISOString().slice(11, 16), value: this.minutes.get(start) ?? 0 };
    });
  }
}

/** @param {{ resetsAt: string }} window */
function left({ resetsAt }) {
  return span(Math.max(0, Date.parse(resetsAt) - now()));
}
