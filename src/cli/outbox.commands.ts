import { OutboxStore } from '../events/outbox/outbox-store.js';
import { Outbox } from '../events/outbox/outbox.js';
import { command, group } from './command.js';
import { Refusal } from './refusal.js';
import { Moment, listTable } from './list-table.js';
import { WIDE, option, positiveInteger } from './options.js';

const LIST_COLUMNS = [
  { title: 'ID' },
  { title: 'LISTENER', leaves: 4 },
  { title: 'EVENT' },
  { title: 'KEY', least: 8, leaves: 1 },
  { title: 'PUBLISHED', leaves: 3 },
  { title: 'FAILURES', leaves: 2 },
  { title: 'ERROR', least: 20 },
];

const list = command({
  name: 'list',
  description: 'show the events that are parked, oldest first, and how many wait for each listener',
  options: [option('--limit <events>', 'how many at most', positiveInteger, 100), WIDE],
  examples: ['outbox list', 'outbox list --limit 1000 --json'],
  run: async (app, { input: { limit } }: { input: { limit: number } }) => {
    const store = app.get(OutboxStore);
    const { names } = app.get(Outbox);
    const parked = await store.parked(limit);
    const waiting = [...(await store.waiting())].map(([listener, events]) => ({
      listener,
      events,
      isKnown: names.includes(listener),
    }));
    return { parked, waiting };
  },
  text: ({ parked, waiting }, _input, view) =>
    [
      listTable(
        LIST_COLUMNS,
        parked.map(({ id, listener, event, key, publishedAt, failures, error }) => {
          return [String(id), listener, event, key, new Moment(publishedAt), String(failures), error];
        }),
        view,
      ),
      ...waiting.map(({ listener, events, isKnown }) =>
        isKnown
          ? `${listener}: ${events} waiting`
          : `${listener}: ${events} waiting, and no listener of this version is called so`,
      ),
    ].join('\n'),
});

const retry = command({
  name: 'retry',
  changes: true,
  description: 'have a parked event delivered again, or all of them',
  argument: ['[id]', 'id of the event'],
  examples: ['outbox retry 42', 'outbox retry'],
  run: async (app, { argument }) => {
    const retried = await app.get(OutboxStore).retry(argument === '' ? undefined : idOf(argument));
    if (retried === 0 && argument !== '') throw notParked(argument);
    return { retried };
  },
  text: ({ retried }) =>
    retried === 1 ? '1 event is delivered again.' : `${retried} events are delivered again.`,
});

const discard = command({
  name: 'discard',
  changes: true,
  description: 'delete an event that is parked, or that waits for a listener which is gone',
  argument: ['<id>', 'id of the event'],
  examples: ['outbox discard 42'],
  confirm: {
    question: (_app, { argument }) => `Delete the event ${idOf(argument)}, which is then never delivered`,
  },
  run: async (app, { argument }) => {
    const discarded = await app.get(OutboxStore).discard(idOf(argument), app.get(Outbox).names);
    if (discarded === 0) throw notParked(argument);
    return { discarded };
  },
  text: () => 'The event is deleted.',
});

/** `petstore outbox …`: durable events that a listener could not handle. */
export const OUTBOX_COMMANDS = group('outbox', 'durable events that a listener could not handle', [
  list,
  retry,
  discard,
]);

function idOf(text: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw notParked(text);
  return BigInt(text);
}

function notParked(id: string): Refusal {
  return new Refusal(`No event ${id} is parked; \`petstore outbox list\` shows those that are.`);
}
