import { isRefused } from '../auth/clients/request-history.js';
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
  if (clients.length === 0) return 'There are no clients yet; create one with `petstore client create`.';
  const last = `LAST ${days} DAYS`;
  const columns = ['PLAN', 'THIS MINUTE', 'TODAY', last, 'REFUSED (60 MIN)', 'BANNED KEYS', 'LAST USED'];
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
      refusedLately(client),
      client.bans.length,
      new Moment(client.lastUsedAt, 'never'),
    ];
    return [client.id, client.name, ...(deprecated ? [called, ...cells] : [...cells, called])];
  });
  return listTable(['ID', 'NAME', ...titles], rows, view);
}

/** How many of its requests were refused by a quota or a ban. */
function refusedLately({ outcomes }: ClientUsageDto): number {
  return outcomes.reduce((sum, { outcome, lastHour }) => sum + (isRefused(outcome) ? lastHour : 0), 0);
}

function used({ windows }: ClientUsageDto, name: string): string | null {
  const window = windows.find((one) => one.name === name);
  return window ? `${window.used}/${window.limit}` : null;
}
