// @ts-check
// What a client uses: both windows now, the last minutes and days, and what came of its requests.
import { choice } from './fields.js';
import { el, number, put, say } from './elements.js';
import { Meter, Plot } from './plots.js';
import { now, span } from './times.js';

export class ClientUsage {
  days = 30;
  #shown = '';

  /** @param {() => void} wanted is called when other days are to be shown */
  constructor(wanted) {
    this.minute = new Meter('This minute');
    this.day = new Meter('Today (UTC)');
    this.resets = el('p', { class: 'note' });
    this.now = el('div', { class: 'meters' }, this.minute.element, this.day.element, this.resets);
    this.byMinute = new Plot({
      id: 'by-minute',
      title: 'By minute',
      note: 'Requests of the last 60 minutes.',
      unit: 'Minute (UTC)',
    });
    this.byDay = new Plot({
      id: 'by-day',
      title: 'By day',
      note: 'Requests in each UTC day.',
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
    this.table = el('div', {
      class: 'table-room',
      tabindex: '0',
      role: 'region',
      'aria-labelledby': 'operations',
    });
    this.operations = el(
      'section',
      { class: 'card' },
      el('h2', { id: 'operations' }, 'By operation'),
      el(
        'p',
        { class: 'note' },
        'What came of its requests in those days, and how many milliseconds they took.',
      ),
      this.table,
    );
    this.deprecated = el('section', { class: 'card', 'aria-labelledby': 'deprecated', hidden: true });
  }

  /** @param {any} client with its usage */
  show({ windows, perMinute, perDay, days, minutes, operations, deprecatedCalls }) {
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
    this.byMinute.show(
      barsOf(minutes, ({ minute: start }) => start.slice(11, 16)),
      perMinute,
    );
    this.byDay.show(
      barsOf(days, ({ date }) => date),
      perDay,
    );
    this.#showOperations(operations);
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

  /** @param {readonly any[]} operations */
  #showOperations(operations) {
    const shown = JSON.stringify(operations);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const titles = ['Operation', 'Outcome', 'Requests', '60 min', 'p50', 'p99', 'Key'];
    const rows = operations.map((one) =>
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, el('code', {}, one.operation)),
        el('td', { class: 'text' }, one.outcome),
        [one.requests, one.lastHour, one.p50Ms, one.p99Ms].map((value) =>
          el('td', {}, value === null ? '–' : number(value)),
        ),
        el('td', { class: 'text' }, el('code', {}, one.keyId)),
      ),
    );
    const head = titles.map((title) => el('th', { scope: 'col' }, title));
    put(
      this.table,
      operations.length === 0
        ? 'No request yet.'
        : el('table', {}, el('thead', {}, el('tr', {}, head)), el('tbody', {}, rows)),
    );
  }
}

/** @param {readonly any[]} windows latest first @param {(window: any) => string} labelOf */
function barsOf(windows, labelOf) {
  return windows
    .toReversed()
    .map((window) => ({ label: labelOf(window), value: window.requests, refused: window.refused }));
}

/** @param {{ resetsAt: string }} window */
function left({ resetsAt }) {
  return span(Math.max(0, Date.parse(resetsAt) - now()));
}
