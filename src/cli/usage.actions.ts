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
  const columns = ['PLAN', 'THIS MINUTE', 'TODAY', `LAST ${days} DAYS`, 'BANNED KEYS', 'LAST USED'];
  const calls = 'DEPRECATED CALLS';
  const titles = deprecated ? [calls, ...columns] : [...columns, calls];
  const rows = clients.map((client) => {
    // Such as `12 GET /v1/pets/:petId`.
    const called = client.deprecatedCalls.map((one) => `${one.calls} ${one.operation}`).join(', ') || null;
    const cells = [
      client.plan,
      used(client, 'minute'),
      used(client, 'day'),
      client.days.reduce((sum, { requests }) => sum + requests, 0),
      client.bans.length,
      new Moment(client.lastUsedAt, 'never'),
    ];
    return [client.id, client.name, ...(deprecated ? [called, ...cells] : [...cells, called])];
  });
  return listTable(['ID', 'NAME', ...titles], rows, view);
}

function used({ windows }: ClientUsageDto, name: string): string | null {
  const window = windows.find((one) => one.name === name);
  return window ? `${window.used}/${window.limit}` : null;
}
