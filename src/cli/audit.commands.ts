import { CLIENT, WIDE, command, group, option } from './command.js';

/** `petstore audit …`: who changed what. */
export const AUDIT_COMMANDS = group('audit', 'who changed what on which client or key, and when', [
  command('list', {
    description: 'show what was changed, latest first',
    options: [
      CLIENT,
      option('--key <key>', 'only changes of this key, by its id or beginning'),
      option('--limit <entries>', 'how many at most; 100 when it is left out'),
      WIDE,
    ],
    examples: ['audit list', 'audit list --client <id> --limit 1000 --json'],
    run: async (call) => (await import('./audit.actions.js')).list(call),
  }),
]);
