import { declaredScopes } from '../auth/clients/scopes.js';
import { FORCE, JSON_OPTION, command, group } from './command.js';
import { ListOption, WIDE, asId, duration, durationOrZero, option, required } from './options.js';

const actions = () => import('./key.actions.js');

/** Commands on one key take its id, or the key itself. */
const OF_KEY = {
  argument: ['<id>', 'id of the key, or the key itself; - reads it from standard input'],
  secret: { of: 'argument', title: 'Key' },
} as const;
const LABEL = option('--label <label>', 'what people call it, 1 to 255 characters');

const issue = command({
  name: 'issue',
  changes: true,
  description: 'make a key; it is shown this once',
  options: [
    required('--client <id>', 'client that the key belongs to').argParser(asId),
    new ListOption(
      '--scopes <a,b>',
      'scopes, separated by commas; default: all but account and the administrative ones',
      () => declaredScopes().map(({ name }) => name),
    ),
    LABEL,
    option('--expires <duration>', 'lifetime such as 90d, 12h or 30m; default: no end', duration),
  ],
  examples: [
    `key issue --client <id> --label 'Web shop' --expires 90d`,
    'key issue --client <id> --scopes admin,pets:read,pets:write',
  ],
  action: async () => (await actions()).issue,
});

const list = command({
  name: 'list',
  description: 'show keys, oldest first, never their secrets',
  options: [option('--client <id>', 'only those of this client', asId), WIDE],
  examples: ['key list', 'key list --client <id> --json'],
  action: async () => (await actions()).list,
});

const show = command({
  name: 'show',
  ...OF_KEY,
  description: 'show a key, never its secret, and whether it is banned',
  examples: ['key show <id>'],
  action: async () => (await actions()).show,
});

const update = command({
  name: 'update',
  changes: true,
  asks: true,
  ...OF_KEY,
  description: 'label a key, or bring its end forward',
  options: [
    LABEL,
    option('--no-label', 'take the label away'),
    option('--expires <duration>', 'how long it still lives, such as 7d; never longer than before', duration),
    FORCE,
  ],
  examples: [`key update <id> --label 'Old web shop' --expires 7d`],
  action: async () => (await actions()).update,
});

const rotate = command({
  name: 'rotate',
  changes: true,
  asks: true,
  ...OF_KEY,
  description: 'make a key with a new secret for the same client; the old one goes on for the grace',
  options: [
    option(
      '--grace <duration>',
      'how long the old key still lives, never longer than its own end; 0 ends it at once',
      durationOrZero,
      '24h',
    ),
    option(
      '--expires <duration>',
      'lifetime of the new key; default: as long as the old one was made for',
      duration,
    ),
    JSON_OPTION,
    FORCE,
  ],
  examples: ['key rotate <id>', 'key rotate <id> --grace 0'],
  action: async () => (await actions()).rotate,
});

const unban = command({
  name: 'unban',
  changes: true,
  ...OF_KEY,
  description: 'lift the ban of a key and forget its strikes',
  examples: ['key unban <id>'],
  action: async () => (await actions()).unban,
});

const revoke = command({
  name: 'revoke',
  changes: true,
  asks: true,
  ...OF_KEY,
  description: 'end a key at once and for good',
  options: [FORCE],
  examples: ['key revoke <id>', 'key revoke <id> --yes', 'key revoke - --yes < found.txt'],
  action: async () => (await actions()).revoke,
});

const verify = command({
  name: 'verify',
  argument: ['<string>', 'what may be a key; - reads it from standard input'],
  secret: { of: 'argument', title: 'Key' },
  description: 'tell by shape and checksum, without any database, whether a string is a key of this service',
  examples: ['key verify <string>', 'key verify - < found.txt'],
  action: async () => (await import('./key-verify.action.js')).verify,
});

/** `petstore key …`: the keys of clients. */
export const KEY_COMMANDS = group('key', 'API keys of clients', [
  issue,
  list,
  show,
  update,
  rotate,
  unban,
  revoke,
  verify,
]);
