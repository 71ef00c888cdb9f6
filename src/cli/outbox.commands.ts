import { command, group } from './command.js';
import { WIDE, option, positiveInteger } from './options.js';

const actions = () => import('./outbox.actions.js');

const list = command({
  name: 'list',
  description: 'show the events that are parked, oldest first, and how many wait for each listener',
  options: [option('--limit <events>', 'how many at most', positiveInteger, 100), WIDE],
  examples: ['outbox list', 'outbox list --limit 1000 --json'],
  action: async () => (await actions()).list,
});

const retry = command({
  name: 'retry',
  changes: true,
  description: 'have a parked event delivered again, or all of them',
  argument: ['[id]', 'id of the event'],
  examples: ['outbox retry 42', 'outbox retry'],
  action: async () => (await actions()).retry,
});

const discard = command({
  name: 'discard',
  changes: true,
  asks: true,
  description: 'delete an event that is parked, or that waits for a listener which is gone',
  argument: ['<id>', 'id of the event'],
  examples: ['outbox discard 42'],
  action: async () => (await actions()).discard,
});

/** `petstore outbox …`: durable events that a listener could not handle. */
export const OUTBOX_COMMANDS = group('outbox', 'durable events that a listener could not handle', [
  list,
  retry,
  discard,
]);
