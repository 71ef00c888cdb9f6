import { DAYS, WIDE, command, flag, group } from './frame/command.js';

/** `petstore usage …`: usage of clients. */
export const USAGE_COMMANDS = group('usage', 'usage of clients', [
  command('list', {
    description: 'list the usage of every client: current minute and day, bans, last use, and past days',
    options: [
      DAYS,
      flag('--deprecated', 'only clients that called deprecated operations in those days'),
      WIDE,
    ],
    examples: ['usage list', 'usage list --days 30 --json', 'usage list --deprecated'],
    run: async (call) => (await import('./usage.actions.js')).list(call),
  }),
]);
