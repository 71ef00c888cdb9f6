import { CLIENT, WIDE, command, group, option } from './frame/command.js';

const actions = () => import('./request.actions.js');

/** `petstore request …`: the last requests that got an error. */
export const REQUEST_COMMANDS = group('request', 'the last requests that got an error, by client', [
  command('list', {
    description: 'list the last errors, latest first; 200 are kept for each client',
    options: [CLIENT, option('--limit <requests>', 'maximum number; default: 100'), WIDE],
    examples: ['request list', `request list --client 'My shop'`],
    run: async (call) => (await actions()).list(call),
  }),
  command('show', {
    description: 'show the outcome of a request that got an error',
    argument: ['<id>', 'its X-Request-Id'],
    examples: ['request show 0b0c9a1e-7f5f-4f39-9d5c-0d6a1c3f2b11'],
    run: async (call, id) => (await actions()).show(call, id),
  }),
]);
