import { toAuditEntryDto } from '../admin/dto/audit-entry.dto.js';
import { AuditService } from '../auth/audit/audit.service.js';
import type { Call } from './call.js';
import { Moment, listTable } from './list-table.js';
import { LimitOption, clientIdOf, everyPage, inputOf, keyIdOf } from './service-calls.js';

const COLUMNS = ['AT', 'ACTION', 'BY', 'CLIENT', 'KEY', 'FROM', 'DETAILS'];

/** `petstore audit list`. */
export async function list(call: Call): Promise<void> {
  const { client, key } = call.options;
  const { limit } = await inputOf(LimitOption, call.options);
  const found = await call.inApp(async (app) => {
    // A name that nobody has is refused: an empty result would be read as proof that nothing was changed.
    const [clientId, keyId] = [await clientIdOf(app, client), await keyIdOf(app, key)];
    const filter = {
      ...(clientId === undefined ? {} : { clientId }),
      ...(keyId === undefined ? {} : { keyId }),
    };
    return everyPage((page) => app.get(AuditService).list(page, filter), limit);
  });
  const entries = found.map(toAuditEntryDto);
  const rows = () =>
    entries.map(({ at, action, clientId, keyId, actor, actorKeyId, from, details }) => {
      const by = actorKeyId === null ? actor : `${actor} ${actorKeyId}`;
      return [new Moment(at), action, by, clientId, keyId, from, JSON.stringify(details)];
    });
  await call.show(entries, (view) =>
    entries.length === 0 ? 'There is no such change.' : listTable(COLUMNS, rows(), view),
  );
}
