import { UsageService } from '../auth/clients/usage.service.js';
import { type ClientUsageDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { DaysQuery } from '../admin/dto/inputs.js';
import type { Call } from './call.js';
import { Moment, type View, listTable } from './list-table.js';
import { everyPage, inputOf } from './service-calls.js';

/** `petstore usage list`. */
export async function list(call: Call): Promise<void> {
  const { deprecated = false } = call.options;
  const { days } = await inputOf(DaysQuery, call.options);
  const all = await call.inApp((app) => everyPage((page) => app.get(UsageService).list(page, days)));
  const found = all
    .filter(({ usage }) => !deprecated || usage.deprecatedCalls.length > 0)
    .map(({ client, usage }) => toClientUsageDto(client, usage));
  await call.show(found, (view) => listText(found, { days, deprecated }, view));
}

function listText(
  clients: readonly ClientUsageDto[],
  { days, deprecated }: DaysQuery & { readonly deprecated: boolean },
  view: View,
): string {
  if (clients.length === 0 && deprecated) return 'No client has called a deprecated operation in those days.';
  if (clients.length === 0) return 'There are no clients yet; make one with `petstore client create`.';
  const columns = [
    { title: 'ID' },
    { title: 'NAME', least: 10 },
    { title: 'PLAN', leaves: 3 },
    { title: 'THIS MINUTE', leaves: 4 },
    { title: 'TODAY', leaves: 5 },
    { title: `LAST ${days} DAYS`, leaves: 6 },
    { title: 'DEPRECATED CALLS', least: 16, leaves: deprecated ? 7 : 1 },
    { title: 'BANNED KEYS', leaves: 2 },
    { title: 'LAST USED', leaves: 8 },
  ];
  const rows = clients.map((client) => [
    client.id,
    client.name,
    client.plan,
    used(client, 'minute'),
    used(client, 'day'),
    client.days.reduce((sum, { requests }) => sum + requests, 0),
    // Such as `12 GET /v1/pets/:petId`.
    client.deprecatedCalls.map(({ operation, calls }) => `${calls} ${operation}`).join(', ') || null,
    client.bans.length,
    new Moment(client.lastUsedAt, 'never'),
  ]);
  return listTable(columns, rows, view);
}

function used({ windows }: ClientUsageDto, name: string): string | null {
  const window = windows.find((one) => one.name === name);
  return window ? `${window.used}/${window.limit}` : null;
}
