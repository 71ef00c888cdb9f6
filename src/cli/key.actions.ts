import type { ApiKey } from '../auth/clients/api-key.entity.js';
import { ApiKeysService } from '../auth/clients/api-keys.service.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { UsageService } from '../auth/usage/usage.service.js';
import {
  type ApiKeyDto,
  type ApiKeyStateDto,
  KeyChangesDto,
  KeyRotationDto,
  NewOwnKeyDto,
  toApiKeyDto,
  toApiKeyStateDto,
  toIssuedKeyDto,
} from '../admin/dto/api-key.dto.js';
import { Text } from '../http/validation/fields.js';
import type { Call } from './frame/call.js';
import { type Column, Moment, factsOf } from './frame/list-table.js';
import { clientOf, everyPage, inputOf, keyOf, ofClient } from './frame/service-calls.js';
import { shortSpan } from './frame/short-times.js';
import { tableOf } from './frame/table.js';

/** A new key for a client that is given by its id or name. */
class KeyOrder extends NewOwnKeyDto {
  @Text({ maxLength: 255 })
  client!: string;
}

/** `petstore key issue`. */
export async function issue(call: Call): Promise<void> {
  const { client, ...input } = await inputOf(KeyOrder, call.options);
  const app = await call.start();
  const { id: clientId } = await clientOf(app, client);
  const issued = toIssuedKeyDto(await app.get(KeyIssuingService).issue({ ...input, clientId }, call.by));
  const { id, scopes, key } = issued;
  await call.showChange(issued, () => shownOnce(`Issued the key ${id} with ${scopes.join(', ')}.`, key));
}

const CUT_KEY: Column<ApiKeyDto> = ['key', ({ prefix }) => `${prefix}…`];
const EXPIRES: Column<ApiKeyDto> = ['expires', ({ expiresAt }) => new Moment(expiresAt, 'never')];
const LAST_USED: Column<ApiKeyDto> = ['last used', ({ lastUsedAt }) => new Moment(lastUsedAt, 'never')];
const ROTATED_TO: Column<ApiKeyDto> = ['rotated to?', ({ replacedBy }) => replacedBy];
const COLUMNS: readonly Column<ApiKeyDto>[] = [
  CUT_KEY,
  'clientId',
  'scopes',
  'label',
  EXPIRES,
  'revokedAt',
  LAST_USED,
  'id',
  ROTATED_TO,
];

/** `petstore key list`. */
export async function list(call: Call): Promise<void> {
  const app = await call.start();
  const filter = await ofClient(app, call);
  const found = await everyPage((page) => app.get(ApiKeysService).list(page, filter));
  const none = 'There are no keys yet; create one with `petstore key issue`.';
  await call.showList(found.map(toApiKeyDto), COLUMNS, none);
}

/** `petstore key show`. */
export async function show(call: Call, given: string): Promise<void> {
  const { app, key } = await startedWith(call, given);
  const state = toApiKeyStateDto(key, await app.get(UsageService).bannedUntil(key));
  await call.show(state, () => keyText(state));
}

/** `petstore key update`. */
export async function update(call: Call, given: string): Promise<void> {
  const { label, ...others } = call.options;
  const input = await inputOf(KeyChangesDto, { ...others, label: label === false ? null : label });
  const { expires } = input;
  if (expires !== undefined) call.requireConsent();
  const { keys, key } = await startedWith(call, given);
  if (expires !== undefined)
    await call.confirm(endOf(key, `in ${shortSpan(expires)}, which cannot be postponed again`));
  const changed = toApiKeyDto(await keys.update(key.id, input, call.options, call.by));
  await call.showChange(changed, () => `Changed the key.\n${keyText(changed)}`);
}

/** `petstore key rotate`. */
export async function rotate(call: Call, given: string): Promise<void> {
  const input = await inputOf(KeyRotationDto, call.options);
  if (input.grace === 0) call.requireConsent();
  const { app, keys, key } = await startedWith(call, given);
  if (input.grace === 0) await call.confirm(endOf(key, 'at once and for good, and create its successor'));
  const made = await app.get(KeyIssuingService).rotate(key.id, input, call.by, call.options);
  const [issued, old] = [toIssuedKeyDto(made), await keys.get(key.id)];
  const done = `The key ${issued.id} follows ${old.id}, which ends at ${old.expiresAt ?? '-'}.`;
  await call.showChange(issued, () => shownOnce(done, issued.key));
}

/** `petstore key unban`. */
export async function unban(call: Call, given: string): Promise<void> {
  const { keys, key: banned } = await startedWith(call, given);
  const key = toApiKeyDto(await keys.unban(banned.id, call.by));
  await call.showChange(key, () => `The key ${key.id} is no longer banned, and its strikes are reset.`);
}

/** `petstore key revoke`. */
export async function revoke(call: Call, given: string): Promise<void> {
  call.requireConsent();
  const { keys, key } = await startedWith(call, given);
  await call.confirm(endOf(key, 'at once, for good'));
  const revoked = toApiKeyDto(await keys.revoke(key.id, call.options, call.by));
  await call.showChange(
    revoked,
    () => `Revoked the key ${revoked.id}; running servers apply this within 1 s.`,
  );
}

/** Starts the application, and finds the key that is named, which is read before. */
async function startedWith(call: Call, given: string) {
  const named = await call.secret(given, 'Key');
  const app = await call.start();
  return { app, keys: app.get(ApiKeysService), key: await keyOf(app, named) };
}

/** Names the key whose end is to be confirmed. */
function endOf({ id, prefix, label }: ApiKey, when: string): string {
  return `End the key ${id} (${prefix}…${label === null ? '' : `, ${label}`}) ${when}`;
}

const shownOnce = (done: string, key: string): string => `${done} It is shown only once:\n\n${key}`;

function keyText(key: ApiKeyDto & Partial<ApiKeyStateDto>): string {
  const facts = ['id', 'clientId', CUT_KEY, 'label', 'scopes', 'createdAt', EXPIRES, LAST_USED] as const;
  return tableOf(
    factsOf(key, [
      ...facts,
      ROTATED_TO,
      'revokedAt?',
      ['banned until?', ({ bannedUntil = null }) => bannedUntil],
    ]),
  );
}
