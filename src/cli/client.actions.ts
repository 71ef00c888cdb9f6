import type { INestApplication } from '@nestjs/common';
import { IntersectionType, PickType } from '@nestjs/swagger';
import { InvalidArgumentError } from 'commander';
import { DataSource } from 'typeorm';
import type { Client } from '../auth/clients/client.entity.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import { KeyIssuingService } from '../auth/clients/key-issuing.service.js';
import { UsageService } from '../auth/usage/usage.service.js';
import { NewOwnKeyDto, toIssuedKeyDto } from '../admin/dto/api-key.dto.js';
import { type ClientDetailsDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { type ClientDto, NewClientDto, toClientDto } from '../admin/dto/client.dto.js';
import { DaysQuery } from '../admin/dto/inputs.js';
import type { Call } from './frame/call.js';
import { type Column, factsOf } from './frame/list-table.js';
import { clientOf, everyPage, inputOf } from './frame/service-calls.js';
import { printable, tableOf } from './frame/table.js';

class PlanOptions extends PickType(NewClientDto, ['plan', 'perMinute', 'perDay']) {}
class NameOption extends PickType(NewClientDto, ['name']) {}
class ClientOrder extends IntersectionType(NewClientDto, PickType(NewOwnKeyDto, ['scopes'])) {}

/** `petstore client create`. */
export async function create(call: Call): Promise<void> {
  const { issueKey } = call.options;
  const { scopes, ...input } = await inputOf(ClientOrder, call.options);
  if (scopes && !issueKey)
    throw new InvalidArgumentError('--scopes: This needs --issue-key, which creates the key.');
  const app = await call.start('write');
  const { client, key } = await app.get(DataSource).transaction(async () => {
    const made = await shown(app, app.get(ClientsService).create(input, call.by));
    if (!issueKey) return { client: made };
    const order = { clientId: made.id, ...(scopes ? { scopes } : {}) };
    return { client: made, key: toIssuedKeyDto(await app.get(KeyIssuingService).issue(order, call.by)) };
  });
  const text = `Created the client ${client.id}.\n${clientText(client)}`;
  await call.showChange(key ? Object.assign(client, { key }) : client, () =>
    key ? `${text}\n\nIts key with ${key.scopes.join(', ')} is shown only once:\n\n${key.key}` : text,
  );
}

const COLUMNS: Column<ClientDto>[] = [
  'id',
  'name',
  'plan',
  'perMinute',
  'perDay',
  'createdAt',
  'suspendedAt?',
];

/** `petstore client list`. */
export async function list(call: Call): Promise<void> {
  const { name } = call.options;
  const clients = (await call.start()).get(ClientsService);
  const rows = await everyPage((page) => clients.list(page, name === undefined ? {} : { name }));
  const found = rows.map((client) => toClientDto(client, clients.limitsOf(client)));
  const none = `There is no ${name === undefined ? '' : 'such '}client; create one with \`petstore client create\`.`;
  await call.showList(found, COLUMNS, none);
}

/** `petstore client show`. */
export async function show(call: Call, given: string): Promise<void> {
  const { days } = await inputOf(DaysQuery, call.options);
  const app = await call.start();
  const client = await clientOf(app, given);
  const usage = toClientUsageDto(client, await app.get(UsageService).of(client, days));
  await call.show(usage, () => usageText(usage));
}

/** `petstore client set-plan`. */
export async function setPlan(call: Call, given: string): Promise<void> {
  const input = await inputOf(PlanOptions, call.options);
  await change(call, given, (clients, id) => clients.update(id, input, call.by), 'Changed the plan.');
}

/** `petstore client rename`. */
export async function rename(call: Call, given: string): Promise<void> {
  const input = await inputOf(NameOption, call.options);
  await change(call, given, (clients, id) => clients.update(id, input, call.by), 'Renamed the client.');
}

/** `petstore client suspend`. */
export async function suspend(call: Call, given: string): Promise<void> {
  const done = 'Suspended the client; running servers apply this within 1 s.';
  await change(call, given, (clients, id) => clients.suspend(id, call.options, call.by), done);
}

/** `petstore client resume`. */
export async function resume(call: Call, given: string): Promise<void> {
  await change(call, given, (clients, id) => clients.resume(id, call.by), 'Resumed the client.');
}

/** `petstore client delete`. */
export async function remove(call: Call, given: string): Promise<void> {
  call.requireConsent();
  const app = await call.start();
  const { id, name } = await clientOf(app, given);
  await call.confirm(`Delete the client ${id} (${name}) with all its keys, for good`);
  const deleted = await shown(app, app.get(ClientsService).delete(id, call.options, call.by));
  await call.showChange(
    deleted,
    () => `Deleted the client ${deleted.id} (${printable(deleted.name)}) and its keys.`,
  );
}

const clientText = (client: ClientDto): string => tableOf(factsOf(client, COLUMNS));

async function change(
  call: Call,
  given: string,
  order: (clients: ClientsService, id: string) => Promise<Client>,
  done: string,
): Promise<void> {
  const app = await call.start();
  const { id } = await clientOf(app, given);
  const client = await shown(app, order(app.get(ClientsService), id));
  await call.showChange(client, () => `${done}\n${clientText(client)}`);
}

async function shown(app: INestApplication, ordered: Promise<Client>): Promise<ClientDto> {
  const client = await ordered;
  return toClientDto(client, app.get(ClientsService).limitsOf(client));
}

function usageText(client: ClientDetailsDto): string {
  const { windows, bans, lastUsedAt, days, operations, deprecatedCalls } = client;
  const text = tableOf([
    ...factsOf(client, COLUMNS),
    ...windows.map((window) => [
      `this ${window.name}`,
      `${window.used} used, ${window.remaining} left; resets at ${window.resetsAt}`,
    ]),
    ['last used', lastUsedAt ?? 'never'],
    ...bans.map(({ keyId, bannedUntil }) => ['banned', `key ${keyId} until ${bannedUntil}`]),
    ...days.map(({ date, requests, refused }) => [date, `${requests} requests, ${refused} refused`]),
    ...deprecatedCalls.map(({ operation, calls, lastDay }) => [
      'deprecated',
      `${calls} calls of ${operation}, the last on ${lastDay}`,
    ]),
  ]);
  if (operations.length === 0) return text;
  const titles = ['OPERATION', 'OUTCOME', `LAST ${days.length} DAYS`, '60 MIN', 'P50 MS', 'P99 MS', 'KEY'];
  const rows = operations.map((one) => {
    const { operation, outcome, requests, lastHour, p50Ms, p99Ms, keyId } = one;
    return [operation, outcome, requests, lastHour, p50Ms, p99Ms, keyId];
  });
  return `${text}\n\n${tableOf([titles, ...rows])}`;
}
