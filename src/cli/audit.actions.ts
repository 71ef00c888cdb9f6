import type { INestApplication } from '@nestjs/common';
import { AuditListing } from '../admin/audit/audit-listing.js';
import type { AuditEntryDto } from '../admin/dto/audit-entry.dto.js';
import { AuditFilters } from '../admin/dto/inputs.js';
import type { Call } from './frame/call.js';
import type { Column } from './frame/list-table.js';
import { LimitOption, clientIdOf, everyPage, inputOf, keyIdOf } from './frame/service-calls.js';

const COLUMNS: Column<AuditEntryDto>[] = [
  'at',
  'action',
  ['by', ({ actor, actorName, actorKeyId }) => [actor, actorName ?? actorKeyId ?? ''].join(' ').trim()],
  ['client', ({ clientName, clientId }) => clientName ?? clientId],
  'keyId',
  'from',
  ['details', ({ details }) => JSON.stringify(details)],
];

/** `petstore audit list`. */
export async function list(call: Call): Promise<void> {
  const { limit } = await inputOf(LimitOption, call.options);
  const app = await call.start();
  const filters = await filtersOf(app, call);
  const entries = await everyPage((page) => app.get(AuditListing).page(page, filters), limit);
  await call.showList(entries, COLUMNS, 'There is no such change.');
}

/** `petstore audit export`. */
export async function exportCsv(call: Call): Promise<void> {
  const app = await call.start();
  for await (const lines of app.get(AuditListing).csv(await filtersOf(app, call)))
    if (!(await call.write(lines))) break;
}

/** A name that nobody has is refused: an empty result would be read as proof that nothing was changed. */
async function filtersOf(app: INestApplication, call: Call): Promise<AuditFilters> {
  const { client, key, actorKey, ...others } = call.options;
  const idOf = async (given?: string) => keyIdOf(app, given && (await call.secret(given, 'Key')));
  const ids = { client: await clientIdOf(app, client), key: await idOf(key), actorKey: await idOf(actorKey) };
  return inputOf(AuditFilters, { ...others, ...ids });
}
