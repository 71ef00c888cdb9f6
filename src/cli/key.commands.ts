import { CLIENT, FORCE, WIDE, YES, command, flag, group, list, option } from './frame/command.js';

const actions = () => import('./key.actions.js');

/** Commands on one key take its id, or the key itself. */
const OF_KEY = [
  '<key>',
  'id or beginning of the key, or the key itself; - reads it from standard input',
] as const;
const LABEL = option('--label <label>', 'label, 1 to 255 characters');

/** `--scopes` of a key that is made. */
export const SCOPES = list(
  '--scopes <a,b>',
  'scopes of the key, separated by commas; default: all but account and the administrative ones',
);

/** `petstore key …`: the keys of clients. */
export const KEY_COMMANDS = group('key', 'API keys of clients', [
  command('issue', {
    description: 'create a key; it is shown only once',
    options: [
      option('--client <client>', 'client that the key belongs to, by its id or name'),
      SCOPES,
      LABEL,
      option('--expires <duration>', 'lifetime such as 90d, 12h or 30m; default: no expiry'),
    ],
    examples: [
      `key issue --client 'My shop' --label 'Web shop' --expires 90d`,
      'key issue --client <id> --scopes admin,account',
    ],
    run: async (call) => (await actions()).issue(call),
  }),
  command('list', {
    description: 'list keys, oldest first, without their secrets',
    options: [CLIENT, WIDE],
    examples: ['key list', 'key list --client <id> --json'],
    run: async (call) => (await actions()).list(call),
  }),
  command('show', {
    description: 'show a key without its secret, and whether it is banned',
    argument: OF_KEY,
    examples: ['key show <id>', 'key show pst_live_4fTz'],
    run: async (call, key) => (await actions()).show(call, key),
  }),
  command('update', {
    description: 'change the label of a key, or bring its expiry forward',
    argument: OF_KEY,
    options: [
      LABEL,
      flag('--no-label', 'remove the label'),
      option('--expires <duration>', 'remaining lifetime, such as 7d; it can only become shorter'),
      FORCE,
      YES,
    ],
    examples: [`key update <id> --label 'Old web shop' --expires 7d`],
    run: async (call, key) => (await actions()).update(call, key),
  }),
  command('rotate', {
    description:
      'create a key with a new secret for the same client; the old one works until the grace period is over',
    argument: OF_KEY,
    options: [
      option(
        '--grace <duration>',
        'how long the old key still works, at most until its own expiry; default: 24h; 0 ends it at once',
      ),
      option(
        '--expires <duration>',
        'lifetime of the new key; default: the original lifetime of the old one',
      ),
      FORCE,
      YES,
    ],
    examples: ['key rotate <id>', 'key rotate <id> --grace 0'],
    run: async (call, key) => (await actions()).rotate(call, key),
  }),
  command('unban', {
    description: 'lift the ban of a key and reset its strikes',
    argument: OF_KEY,
    examples: ['key unban <id>'],
    run: async (call, key) => (await actions()).unban(call, key),
  }),
  command('revoke', {
    description: 'end a key at once and for good',
    argument: OF_KEY,
    options: [FORCE, YES],
    examples: ['key revoke <id>', 'key revoke <id> --yes', 'key revoke - --yes < found.txt'],
    run: async (call, key) => (await actions()).revoke(call, key),
  }),
  command('verify', {
    description:
      'check by shape and checksum, without any database, whether a string is a key of this service',
    argument: ['<string>', 'the string to check; - reads it from standard input'],
    examples: ['key verify <string>', 'key verify - < found.txt'],
    run: async (call, text) => (await import('./key-verify.action.js')).verify(call, text),
  }),
]);
