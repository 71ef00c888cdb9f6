import { WIDE, YES, command, group, option } from './command.js';

const actions = () => import('./outbox.actions.js');

/** `petstore outbox …`: durable events that a listener could not handle. */
export const OUTBOX_COMMANDS = group('outbox', 'durable events that a listener could not handle', [
  command('list', {
    description: 'show the events that are parked, oldest first, and how many wait for each listener',
    options: [option('--limit <events>', 'how many at most; 100 when it is left out'), WIDE],
    examples: ['outbox list', 'outbox list --limit 1000 --json'],
    run: async (call) => (await actions()).list(call),
  }),
  command('retry', {
    description: 'have a parked event delivered again, or all of them',
    argument: ['[id]', 'id of the event'],
    examples: ['outbox retry 42', 'outbox retry'],
    run: async (call, id) => (await actions()).retry(call, id),
  }),
  command('discard', {
    description: 'delete an event that is parked, or that waits for a listener which is gone',
    argument: ['<id>', 'id of the event'],
    options: [YES],
    examples: ['outbox discard 42'],
    run: async (call, id) => (await actions()).discard(call, id),
  }),
]);
