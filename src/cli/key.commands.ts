import type { INestApplication } from '@nestjs/common';
import { verifyApiKey } from '../accounts/api-key.format.js';
import { ApiKeysService } from '../accounts/api-keys.service.js';
import { KeyIssuingService } from '../accounts/key-issuing.service.js';
import { declaredScopes } from '../accounts/scopes.js';
import { UsageService } from '../accounts/usage.service.js';
import {
  type ApiKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewKeyDto,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from '../faces/dto/api-key.dto.js';
import { type Call, FORCE, JSON_OPTION, command, group } from './command.js';
import { Refusal } from './refusal.js';
import { Moment, type View, listTable } from './list-table.js';
import { ListOption, WIDE, duration, durationOrZero, option, required } from './options.js';
import { everyPage, inputOf } from './service-calls.js';
import { shortSpan } from './short-times.js';
import { tableOf } from './table.js';

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
    required('--client <id>', 'client that the key belongs to'),
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
  input: ({ client: clientId, ...options }) => inputOf(NewKeyDto, { clientId, ...options }),
  run: async (app, { input, by }) => toIssuedKeyDto(await app.get(KeyIssuingService).issue(input, by)),
  text: ({ id, scopes, key }) => shownOnce(`Issued the key ${id} with ${scopes.join(', ')}.`, key),
});

const list = command({
  name: 'list',
  description: 'show keys, oldest first, never their secrets',
  options: [option('--client <id>', 'only those of this client'), WIDE],
  examples: ['key list', 'key list --client <id> --json'],
  run: async (app, { input: { client } }: Call<{ client?: string }>) => {
    const filter = client === undefined ? {} : { clientId: client };
    return (await everyPage((page) => app.get(ApiKeysService).list(page, filter))).map(toApiKeyDto);
  },
  text: listText,
});

const show = command({
  name: 'show',
  ...OF_KEY,
  description: 'show a key, never its secret, and whether it is banned',
  examples: ['key show <id>'],
  run: async (app, { argument }) => {
    const keys = app.get(ApiKeysService);
    const key = await keys.get(await idOf(keys, argument));
    return toApiKeyStateDto(key, await app.get(UsageService).bannedUntil(key));
  },
  text: (key) => keyText(key, key.bannedUntil),
});

const update = command({
  name: 'update',
  changes: true,
  ...OF_KEY,
  description: 'label a key, or bring its end forward',
  options: [
    LABEL,
    option('--no-label', 'take the label away'),
    option('--expires <duration>', 'how long it still lives, such as 7d; never longer than before', duration),
    FORCE,
  ],
  examples: [`key update <id> --label 'Old web shop' --expires 7d`],
  confirm: {
    when: ({ expires }: KeyChangesDto) => expires !== undefined,
    question: (app: INestApplication, call) =>
      endOf(app, call, `in ${shortSpan(call.input.expires ?? 0)}, which cannot be put off again`),
  },
  // Commander hands `--no-label` over as false, and its absence as true.
  input: ({ label, expires }) =>
    inputOf(KeyChangesDto, { label: label === true ? undefined : label === false ? null : label, expires }),
  run: async (app, { argument, input, force, by }) => {
    const keys = app.get(ApiKeysService);
    return toApiKeyDto(await keys.update(await idOf(keys, argument), input, { force }, by));
  },
  text: (key) => `Changed the key.\n${keyText(key)}`,
});

const rotate = command({
  name: 'rotate',
  changes: true,
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
  confirm: {
    when: ({ grace }: KeyRotationDto) => grace === 0,
    question: (app: INestApplication, call) => endOf(app, call, 'at once, for good, and make its successor'),
  },
  input: (options) => inputOf(KeyRotationDto, options),
  run: async (app, { argument, input, force, by }) => {
    const keys = app.get(ApiKeysService);
    const id = await idOf(keys, argument);
    const issued = toIssuedKeyDto(await app.get(KeyIssuingService).rotate(id, input, by, { force }));
    return { issued, old: await keys.get(id) };
  },
  text: ({ issued: { id, key }, old }) =>
    shownOnce(`The key ${id} follows ${old.id}, which ends at ${old.expiresAt ?? '-'}.`, key),
  json: ({ issued }) => issued,
});

const unban = command({
  name: 'unban',
  changes: true,
  ...OF_KEY,
  description: 'lift the ban of a key and forget its strikes',
  examples: ['key unban <id>'],
  run: async (app, { argument, by }) => {
    const keys = app.get(ApiKeysService);
    return toApiKeyDto(await keys.unban(await idOf(keys, argument), by));
  },
  text: ({ id }) => `Lifted the ban of the key ${id}.`,
});

const revoke = command({
  name: 'revoke',
  changes: true,
  ...OF_KEY,
  description: 'end a key at once and for good',
  options: [FORCE],
  examples: ['key revoke <id>', 'key revoke <id> --yes', 'key revoke - --yes < found.txt'],
  confirm: { question: (app, call) => endOf(app, call, 'at once, for good') },
  run: async (app, { argument, force, by }) => {
    const keys = app.get(ApiKeysService);
    return toApiKeyDto(await keys.revoke(await idOf(keys, argument), { force }, by));
  },
  text: ({ id }) => `Revoked the key ${id}; servers that run know within 5 s.`,
});

const verify = command({
  name: 'verify',
  argument: ['<string>', 'what may be a key; - reads it from standard input'],
  secret: { of: 'argument', title: 'Key' },
  description: 'tell by shape and checksum, without any database, whether a string is a key of this service',
  examples: ['key verify <string>', 'key verify - < found.txt'],
  runAlone: async ({ argument }) => Promise.resolve(verifyApiKey(argument)),
  text: (verdict) =>
    verdict.wellFormed
      ? `This has the shape and the checksum of a ${verdict.environment} key, ${verdict.prefix}…\n` +
        'Whether it was issued here, and still works, `petstore key show` tells.'
      : undefined,
  refusal: (verdict) => (verdict.wellFormed ? undefined : `This is no key. ${verdict.reason}`),
});

const COMMANDS = [issue, list, show, update, rotate, unban, revoke, verify];

/** `petstore key …`: the keys of clients. */
export const KEY_COMMANDS = group('key', 'API keys of clients', COMMANDS);

/** Names the key whose end is to be confirmed. */
async function endOf(app: INestApplication, { argument }: Call<unknown>, when: string): Promise<string> {
  const keys = app.get(ApiKeysService);
  const { id, prefix, label } = await keys.get(await idOf(keys, argument));
  return `End the key ${id} (${prefix}…${label === null ? '' : `, ${label}`}) ${when}`;
}

/** The id of a key, given as such or by the key itself: of a key that leaked, that is often all that is known. */
async function idOf(keys: ApiKeysService, idOrKey: string): Promise<string> {
  const verdict = verifyApiKey(idOrKey);
  if (verdict.wellFormed) return (await keys.identify(idOrKey)).id;
  // The text may be most of a real key, so it is not repeated.
  if (idOrKey.startsWith('pst_')) throw new Refusal(`This is no key. ${verdict.reason}`);
  return idOrKey;
}

const shownOnce = (done: string, key: string): string => `${done} It is shown this once:\n\n${key}`;

function keyText(key: ApiKeyDto, bannedUntil: string | null = null): string {
  return tableOf([
    ['id', key.id],
    ['client', key.clientId],
    ['key', `${key.prefix}…`],
    ['label', key.label],
    ['scopes', key.scopes.join(', ')],
    ['created', key.createdAt],
    ['expires', key.expiresAt ?? 'never'],
    ['last used', key.lastUsedAt ?? 'never'],
    ...(key.replacedBy === null ? [] : [['rotated to', key.replacedBy]]),
    ...(key.revokedAt === null ? [] : [['revoked', key.revokedAt]]),
    ...(bannedUntil === null ? [] : [['banned until', bannedUntil]]),
  ]);
}

const LIST_COLUMNS = [
  { title: 'ID' },
  { title: 'CLIENT', leaves: 2 },
  { title: 'KEY', leaves: 4 },
  { title: 'LABEL', least: 10 },
  { title: 'SCOPES', least: 12, leaves: 3 },
  { title: 'EXPIRES' },
  { title: 'REVOKED' },
  { title: 'LAST USED' },
  { title: 'ROTATED TO', leaves: 1 },
];

function listText(keys: readonly ApiKeyDto[], _input: unknown, view: View): string {
  if (keys.length === 0) return 'There are no keys yet; make one with `petstore key issue`.';
  const rows = keys.map((key) => [
    key.id,
    key.clientId,
    `${key.prefix}…`,
    key.label,
    key.scopes.join(','),
    new Moment(key.expiresAt, 'never'),
    new Moment(key.revokedAt),
    new Moment(key.lastUsedAt, 'never'),
    key.replacedBy,
  ]);
  return listTable(LIST_COLUMNS, rows, view);
}
