import type { INestApplication } from '@nestjs/common';
import type { ApiKey } from '../auth/clients/api-key.entity.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { UsageService } from '../auth/clients/usage.service.js';
import {
  type ApiKeyDto,
  KeyChangesDto,
  KeyRotationDto,
  NewOwnKeyDto,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from '../admin/dto/api-key.dto.js';
import { Text } from '../http/validation/fields.js';
import type { Call } from './call.js';
import { Moment, listTable } from './list-table.js';
import { clientIdOf, clientOf, everyPage, inputOf, keyOf } from './service-calls.js';
import { shortSpan } from './short-times.js';
import { tableOf } from './table.js';

/** A new key for a client that is given by its id or name. */
class KeyOrder extends NewOwnKeyDto {
  @Text({ maxLength: 255 })
  client!: string;
}

/** `petstore key issue`. */
export async function issue(call: Call): Promise<void> {
  const { client, ...input } = await inputOf(KeyOrder, call.options);
  const issued = await call.inApp(async (app) => {
    const { id: clientId } = await clientOf(app, client);
    return toIssuedKeyDto(await app.get(KeyIssuingService).issue({ ...input, clientId }, call.by));
  });
  const { id, scopes, key } = issued;
  await call.showChange(issued, () => shownOnce(`Issued the key ${id} with ${scopes.join(', ')}.`, key));
}

const COLUMNS = ['KEY', 'CLIENT', 'SCOPES', 'LABEL', 'EXPIRES', 'REVOKED', 'LAST USED', 'ID', 'ROTATED TO'];

/** `petstore key list`. */
export async function list(call: Call): Promise<void> {
  const { client } = call.options;
  const found = await call.inApp(async (app) => {
    const clientId = await clientIdOf(app, client);
    const filter = clientId === undefined ? {} : { clientId };
    return everyPage((page) => app.get(ApiKeysService).list(page, filter));
  });
  const keys = found.map(toApiKeyDto);
  const cells = (key: ApiKeyDto) => [
    `${key.prefix}…`,
    key.clientId,
    key.scopes.join(','),
    key.label,
    new Moment(key.expiresAt, 'never'),
    new Moment(key.revokedAt),
    new Moment(key.lastUsedAt, 'never'),
    key.id,
    key.replacedBy,
  ];
  await call.show(keys, (view) =>
    keys.length === 0
      ? 'There are no keys yet; create one with `petstore key issue`.'
      : listTable(COLUMNS, keys.map(cells), view),
  );
}

/** `petstore key show`. */
export async function show(call: Call, given: string): Promise<void> {
  const state = await withKey(call, given, async (app, key) =>
    toApiKeyStateDto(key, await app.get(UsageService).bannedUntil(key)),
  );
  await call.show(state, () => keyText(state, state.bannedUntil));
}

/** `petstore key update`. */
export async function update(call: Call, given: string): Promise<void> {
  const { label, ...others } = call.options;
  const input = await inputOf(KeyChangesDto, { ...others, label: label === false ? null : label });
  const { expires } = input;
  if (expires !== undefined) call.requireConsent();
  const changed = await withKey(call, given, async (app, key) => {
    if (expires !== undefined)
      await call.confirm(endOf(key, `in ${shortSpan(expires)}, which cannot be postponed again`));
    return toApiKeyDto(await app.get(ApiKeysService).update(key.id, input, call.options, call.by));
  });
  await call.showChange(changed, () => `Changed the key.\n${keyText(changed)}`);
}

/** `petstore key rotate`. */
export async function rotate(call: Call, given: string): Promise<void> {
  const input = await inputOf(KeyRotationDto, call.options);
  if (input.grace === 0) call.requireConsent();
  const { issued, old } = await withKey(call, given, async (app, key) => {
    if (input.grace === 0) await call.confirm(endOf(key, 'at once and for good, and create its successor'));
    const made = await app.get(KeyIssuingService).rotate(key.id, input, call.by, call.options);
    return { issued: toIssuedKeyDto(made), old: await app.get(ApiKeysService).get(key.id) };
  });
  const done = `The key ${issued.id} follows ${old.id}, which ends at ${old.expiresAt ?? '-'}.`;
  await call.showChange(issued, () => shownOnce(done, issued.key));
}

/** `petstore key unban`. */
export async function unban(call: Call, given: string): Promise<void> {
  const key = await withKey(call, given, async (app, { id }) =>
    toApiKeyDto(await app.get(ApiKeysService).unban(id, call.by)),
  );
  await call.showChange(key, () => `The key ${key.id} is no longer banned, and its strikes are reset.`);
}

/** `petstore key revoke`. */
export async function revoke(call: Call, given: string): Promise<void> {
  call.requireConsent();
  const revoked = await withKey(call, given, async (app, key) => {
    await call.confirm(endOf(key, 'at once, for good'));
    return toApiKeyDto(await app.get(ApiKeysService).revoke(key.id, call.options, call.by));
  });
  await call.showChange(
    revoked,
    () => `Revoked the key ${revoked.id}; running servers apply this within 5 s.`,
  );
}

/** Does something with the key that is named, which is read before the application starts. */
async function withKey<T>(
  call: Call,
  given: string,
  work: (app: INestApplication, key: ApiKey) => Promise<T>,
): Promise<T> {
  const named = await call.secret(given, 'Key');
  return call.inApp(async (app) => work(app, await keyOf(app, named)));
}

/** Names the key whose end is to be confirmed. */
function endOf({ id, prefix, label }: ApiKey, when: string): string {
  return `End the key ${id} (${prefix}…${label === null ? '' : `, ${label}`}) ${when}`;
}

const shownOnce = (done: string, key: string): string => `${done} It is shown only once:\n\n${key}`;

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
