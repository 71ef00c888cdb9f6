// @ts-check
// Usage of a client: current windows, the last minutes and days, and the outcomes of its requests.
import { choice } from './controls.js';
import { el, number, replaceContent, setText } from './elements.js';
import { Meter, Plot } from './plots.js';
import { Table, card } from './sections.js';
import { now, span } from './times.js';

export class ClientUsage {
  days = 30;
  minute = new Meter('This minute');
  day = new Meter('Today (UTC)');
  resets = el('p.note');
  now = el('div.meters', this.minute.element, this.day.element, this.resets);
  byMinute = new Plot('By minute', 'Requests of the last 60 minutes.', 'Minute (UTC)');
  table = new Table(
    'Outcomes by operation',
    ['Operation', 'Outcome', 'Requests', '60 min', 'p50', 'p99', 'Key'],
    'No request yet.',
    '.blocks',
  );
  operations = card(
    'By operation',
    null,
    el('p.note', 'The outcomes of its requests in those days, and their durations in milliseconds.'),
    this.table.element,
  );
  calls = el('ul');
  deprecated = card(
    'Deprecated operations',
    null,
    el('p.note', 'This client still calls operations that will be removed.'),
    this.calls,
  );

  /** @param {() => void} wanted called when another number of days is selected */
  constructor(wanted) {
    const offered = [7, 30, 90].map((days) => /** @type {const} */ ([`${days}`, `${days} days`]));
    const range = choice('days', offered, '30');
    range.addEventListener('change', () => {
      this.days = Number(range.value);
      wanted();
    });
    const tools = el('label', el('span.visually-hidden', 'Days to show'), range);
    this.byDay = new Plot('By day', 'Requests in each UTC day.', 'Day (UTC)', tools);
  }

  /** @param {any} client with its usage */
  show({ windows, perMinute, perDay, days, minutes, operations, deprecatedCalls }) {
    const [minute, day] = ['minute', 'day'].map((name) =>
      windows.find((/** @type {any} */ one) => one.name === name),
    );
    this.minute.show(minute);
    this.day.show(day);
    const resets = [minute && `The minute resets in ${left(minute)}`, day && `the day in ${left(day)}.`];
    setText(this.resets, resets.filter(Boolean).join(', '));
    this.byMinute.show(
      barsOf(minutes, (window) => window.minute.slice(11, 16)),
      perMinute,
    );
    this.byDay.show(
      barsOf(days, ({ date }) => date),
      perDay,
    );
    this.table.show(
      operations.map((/** @type {any} */ { operation, outcome, keyId, keyPrefix, ...numbers }) => [
        el('code', operation),
        outcome,
        ...['requests', 'lastHour', 'p50Ms', 'p99Ms'].map((name) =>
          numbers[name] === null ? '–' : number(numbers[name]),
        ),
        el('code', keyPrefix === null ? (keyId ?? '–') : `${keyPrefix}…`),
      ]),
    );
    this.deprecated.hidden = deprecatedCalls.length === 0;
    replaceContent(
      this.calls,
      deprecatedCalls.map((/** @type {any} */ { operation, calls, lastDay }) =>
        el('li', el('code', operation), ` ${number(calls)} calls, the last on ${lastDay}`),
      ),
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
