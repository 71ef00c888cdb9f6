import { command, group } from './command.js';
import { WIDE, asId, option, positiveInteger } from './options.js';

const list = command({
  name: 'list',
  description: 'show what was changed, latest first',
  options: [
    option('--client <id>', 'only changes of this client and its keys', asId),
    option('--key <id>', 'only changes of this key', asId),
    option('--limit <entries>', 'how many at most', positiveInteger, 100),
    WIDE,
  ],
  examples: ['audit list', 'audit list --client <id> --limit 1000 --json'],
  action: async () => (await import('./audit.actions.js')).list,
});

/** `petstore audit …`: who changed what. */
export const AUDIT_COMMANDS = group('audit', 'who changed what on which client or key, and when', [list]);
