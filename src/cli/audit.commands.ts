import { CLIENT, WIDE, command, group, option } from './frame/command.js';

const actions = () => import('./audit.actions.js');

const FILTERS = [
  CLIENT,
  option('--key <key>', 'only changes of this key, by its id or beginning; - reads it from standard input'),
  option('--action <action>', 'only this action, such as api_key.revoked'),
  option('--actor <kind>', 'only changes by this kind of actor', ['key', 'user', 'command_line', 'service']),
  option('--actor-key <key>', 'only changes that were made with this key, given in the same way'),
  option('--from <origin>', 'only from this address, or by this user@host of the command line'),
  option('--since <instant>', 'only from this instant on, such as 2026-11-20T00:00:00Z'),
  option('--until <instant>', 'only before this instant'),
];

/** `petstore audit …`: who changed what. */
export const AUDIT_COMMANDS = group('audit', 'the audit trail of changes to clients and keys', [
  command('list', {
    description: 'list changes, latest first',
    options: [...FILTERS, option('--limit <entries>', 'maximum number; default: 100'), WIDE],
    examples: ['audit list', 'audit list --client <id> --limit 1000 --json'],
    run: async (call) => (await actions()).list(call),
  }),
  command('export', {
    description: 'write all changes to standard output as CSV, latest first',
    options: FILTERS,
    hasNoJson: true,
    examples: ['audit export', 'audit export --since 2026-11-01T00:00:00Z --actor command_line'],
    run: async (call) => (await actions()).exportCsv(call),
  }),
]);
