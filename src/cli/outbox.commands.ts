import { WIDE, YES, command, group, option } from './frame/command.js';

const actions = () => import('./outbox.actions.js');

/** `petstore outbox …`: durable events that a listener could not handle. */
export const OUTBOX_COMMANDS = group('outbox', 'durable events that a listener could not handle', [
  command('list', {
    description: 'list parked events, oldest first, and the number of waiting events per listener',
    options: [option('--limit <events>', 'maximum number; default: 100'), WIDE],
    examples: ['outbox list', 'outbox list --limit 1000 --json'],
    run: async (call) => (await actions()).list(call),
  }),
  command('retry', {
    description: 'deliver a parked event again, or all of them',
    argument: ['[id]', 'id of the event'],
    examples: ['outbox retry 42', 'outbox retry'],
    run: async (call, id) => (await actions()).retry(call, id),
  }),
  command('discard', {
    description: 'delete an event that is parked or waits for a listener that no longer exists',
    argument: ['<id>', 'id of the event'],
    options: [YES],
    examples: ['outbox discard 42'],
    run: async (call, id) => (await actions()).discard(call, id),
  }),
]);
