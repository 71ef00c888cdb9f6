import { UsageService } from '../accounts/usage.service.js';
import { type ClientUsageDto, toClientUsageDto } from '../faces/dto/client-usage.dto.js';
import { type Call, command, group } from './command.js';
import { DAYS, flag } from './options.js';
import { everyPage } from './service-calls.js';
import { tableOf } from './table.js';

interface Input {
  readonly days: number;
  readonly deprecated: boolean;
}

const list = command({
  name: 'list',
  description: 'show what every client has used: both windows now, bans, last use, and its last days',
  options: [DAYS, flag('--deprecated', 'only clients that called deprecated operations in those days')],
  examples: ['usage list', 'usage list --days 30 --json', 'usage list --deprecated'],
  run: async (app, { input }: Call<Input>) => {
    const found = await everyPage((page) => app.get(UsageService).list(page, input.days));
    return found
      .filter(({ usage }) => !input.deprecated || usage.deprecatedCalls.length > 0)
      .map(({ client, usage }) => toClientUsageDto(client, usage));
  },
  text: listText,
});

/** `petstore usage …`: what clients have used of their plans. */
export const USAGE_COMMANDS = group('usage', 'what clients have used of their plans', [list]);

function listText(clients: readonly ClientUsageDto[], { days, deprecated }: Input): string {
  if (clients.length === 0 && deprecated) return 'No client has called a deprecated operation in those days.';
  if (clients.length === 0) return 'There are no clients yet; make one with `petstore client create`.';
  const headings = ['ID', 'NAME', 'PLAN', 'THIS MINUTE', 'TODAY', `LAST ${days} DAYS`];
  return tableOf([
    [...headings, 'DEPRECATED CALLS', 'BANNED KEYS', 'LAST USED'],
    ...clients.map((client) => [
      client.id,
      client.name,
      client.plan,
      used(client, 'minute'),
      used(client, 'day'),
      client.days.reduce((sum, { requests }) => sum + requests, 0),
      // Such as `12 GET /v1/pets/:petId`.
      client.deprecatedCalls.map(({ operation, calls }) => `${calls} ${operation}`).join(', ') || null,
      client.bans.length,
      client.lastUsedAt ?? 'never',
    ]),
  ]);
}

function used({ windows }: ClientUsageDto, name: string): string | null {
  const window = windows.find((one) => one.name === name);
  return window ? `${window.used}/${window.limit}` : null;
}
