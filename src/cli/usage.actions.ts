import { isRefused } from '../auth/usage/request-history.js';
import { UsageService } from '../auth/usage/usage.service.js';
import { type ClientUsageDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { DaysQuery } from '../admin/dto/inputs.js';
import type { Call } from './frame/call.js';
import { type Column, Moment } from './frame/list-table.js';
import { everyPage, inputOf } from './frame/service-calls.js';

/** `petstore usage list`. */
export async function list(call: Call): Promise<void> {
  const { deprecated = false } = call.options;
  const { days } = await inputOf(DaysQuery, call.options);
  const app = await call.start();
  const all = await everyPage((page) => app.get(UsageService).list(page, days));
  const found = all
    .filter(({ usage }) => !deprecated || usage.deprecatedCalls.length > 0)
    .map(({ client, usage }) => toClientUsageDto(client, usage));
  const none = deprecated
    ? 'No client has called a deprecated operation in those days.'
    : 'There are no clients yet; create one with `petstore client create`.';
  const columns = columnsOver(days);
  await call.showList(
    found,
    ['id', 'name', ...(deprecated ? [CALLS, ...columns] : [...columns, CALLS])],
    none,
  );
}

/** Such as `12 GET /v1/pets/:petId`. */
const CALLS: Column<ClientUsageDto> = [
  'deprecated calls',
  ({ deprecatedCalls }) => deprecatedCalls.map((one) => `${one.calls} ${one.operation}`).join(', ') || null,
];

function columnsOver(days: number): Column<ClientUsageDto>[] {
  return [
    'plan',
    ['this minute', (client) => used(client, 'minute')],
    ['today', (client) => used(client, 'day')],
    [`last ${days} days`, (client) => client.days.reduce((sum, { requests }) => sum + requests, 0)],
    ['refused (60 min)', refusedLately],
    ['banned keys', ({ bans }) => bans.length],
    ['last used', ({ lastUsedAt }) => new Moment(lastUsedAt, 'never')],
  ];
}

/** How many of its requests were refused by a quota or a ban. */
function refusedLately({ outcomes }: ClientUsageDto): number {
  return outcomes.reduce((sum, { outcome, lastHour }) => sum + (isRefused(outcome) ? lastHour : 0), 0);
}

function used({ windows }: ClientUsageDto, name: string): string | null {
  const window = windows.find((one) => one.name === name);
  return window ? `${window.used}/${window.limit}` : null;
}
