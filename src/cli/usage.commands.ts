import { command, group } from './command.js';
import { DAYS, WIDE, flag } from './options.js';

const list = command({
  name: 'list',
  description: 'show what every client has used: both windows now, bans, last use, and its last days',
  options: [DAYS, flag('--deprecated', 'only clients that called deprecated operations in those days'), WIDE],
  examples: ['usage list', 'usage list --days 30 --json', 'usage list --deprecated'],
  action: async () => (await import('./usage.actions.js')).list,
});

/** `petstore usage …`: what clients have used of their plans. */
export const USAGE_COMMANDS = group('usage', 'what clients have used of their plans', [list]);
