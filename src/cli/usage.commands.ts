import { DAYS, WIDE, command, flag, group } from './command.js';

/** `petstore usage …`: what clients have used of their plans. */
export const USAGE_COMMANDS = group('usage', 'what clients have used of their plans', [
  command('list', {
    description: 'show what every client has used: both windows now, bans, last use, and its last days',
    options: [
      DAYS,
      flag('--deprecated', 'only clients that called deprecated operations in those days'),
      WIDE,
    ],
    examples: ['usage list', 'usage list --days 30 --json', 'usage list --deprecated'],
    run: async (call) => (await import('./usage.actions.js')).list(call),
  }),
]);
