import type { ClientUsageDto } from '../admin/dto/client-usage.dto.js';
import type { ClientDto } from '../admin/dto/client.dto.js';
import { tableOf } from './table.js';

/** A client, for people. */
export function clientText(client: ClientDto): string {
  return tableOf(clientRows(client));
}

function clientRows(client: ClientDto): string[][] {
  return [
    ['id', client.id],
    ['name', client.name],
    ['plan', client.plan],
    ['per minute', String(client.perMinute)],
    ['per day', String(client.perDay)],
    ['created', client.createdAt],
    ...(client.suspendedAt === null ? [] : [['suspended', client.suspendedAt]]),
  ];
}

/** A client with what it has used, for people. */
export function clientUsageText(client: ClientUsageDto): string {
  const { windows, bans, lastUsedAt, days, deprecatedCalls } = client;
  return tableOf([
    ...clientRows(client),
    ...windows.map((window) => [
      `this ${window.name}`,
      `${window.used} used, ${window.remaining} left; full again at ${window.resetsAt}`,
    ]),
    ['last used', lastUsedAt ?? 'never'],
    ...bans.map(({ keyId, bannedUntil }) => ['banned', `key ${keyId} until ${bannedUntil}`]),
    ...days.map(({ date, requests }) => [date, `${requests} requests`]),
    ...deprecatedCalls.map(({ operation, calls, lastDay }) => [
      'deprecated',
      `${calls} calls of ${operation}, the last on ${lastDay}`,
    ]),
  ]);
}
