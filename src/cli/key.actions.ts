import type { INestApplication } from '@nestjs/common';
import { verifyApiKey } from '../auth/clients/api-key.format.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { UsageService } from '../auth/clients/usage.service.js';
import {
  type ApiKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewKeyDto,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from '../admin/dto/api-key.dto.js';
import { type Call, action } from './action.js';
import { Refusal } from './refusal.js';
import { Moment, type View, listTable } from './list-table.js';
import { everyPage, inputOf } from './service-calls.js';
import { shortSpan } from './short-times.js';
import { tableOf } from './table.js';

/** `petstore key issue`. */
export const issue = action({
  input: ({ client: clientId, ...options }) => inputOf(NewKeyDto, { clientId, ...options }),
  run: async (app, { input, by }) => toIssuedKeyDto(await app.get(KeyIssuingService).issue(input, by)),
  text: ({ id, scopes, key }) => shownOnce(`Issued the key ${id} with ${scopes.join(', ')}.`, key),
});

/** `petstore key list`. */
export const list = action({
  run: async (app, { input: { client } }: Call<{ client?: string }>) => {
    const filter = client === undefined ? {} : { clientId: client };
    return (await everyPage((page) => app.get(ApiKeysService).list(page, filter))).map(toApiKeyDto);
  },
  text: listText,
});

/** `petstore key show`. */
export const show = action({
  run: async (app, { argument }) => {
    const keys = app.get(ApiKeysService);
    const key = await keys.get(await idOf(keys, argument));
    return toApiKeyStateDto(key, await app.get(UsageService).bannedUntil(key));
  },
  text: (key) => keyText(key, key.bannedUntil),
});

/** `petstore key update`. */
export const update = action({
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

/** `petstore key rotate`. */
export const rotate = action({
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

/** `petstore key unban`. */
export const unban = action({
  run: async (app, { argument, by }) => {
    const keys = app.get(ApiKeysService);
    return toApiKeyDto(await keys.unban(await idOf(keys, argument), by));
  },
  text: ({ id }) => `The key ${id} is not banned, and its strikes are forgotten.`,
});

/** `petstore key revoke`. */
export const revoke = action({
  confirm: { question: (app, call) => endOf(app, call, 'at once, for good') },
  run: async (app, { argument, force, by }) => {
    const keys = app.get(ApiKeysService);
    return toApiKeyDto(await keys.revoke(await idOf(keys, argument), { force }, by));
  },
  text: ({ id }) => `Revoked the key ${id}; servers that run know within 5 s.`,
});

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
