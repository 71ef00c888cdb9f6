import { InvalidArgumentError } from 'commander';
import { toAuditEntryDto } from '../admin/dto/audit-entry.dto.js';
import { AuditService } from '../auth/audit/audit.service.js';
import { action } from './action.js';
import { Moment, listTable } from './list-table.js';
import { everyPage } from './service-calls.js';

interface Input {
  readonly client?: string;
  readonly key?: string;
  readonly limit: number;
}

const LIST_COLUMNS = [
  { title: 'AT' },
  { title: 'ACTION' },
  { title: 'CLIENT' },
  { title: 'KEY', leaves: 2 },
  { title: 'BY', least: 10 },
  { title: 'FROM', least: 10, leaves: 1 },
  { title: 'DETAILS', least: 10, leaves: 3 },
];

/** `petstore audit list`. */
export const list = action({
  input: (options) => checked(options as unknown as Input),
  run: async (app, { input: { client, key, limit } }) => {
    const filter = {
      ...(client === undefined ? {} : { clientId: client }),
      ...(key === undefined ? {} : { keyId: key }),
    };
    const entries = await everyPage((page) => app.get(AuditService).list(page, filter), limit);
    return entries.map(toAuditEntryDto);
  },
  text: (entries, _input, view) =>
    entries.length === 0
      ? 'There is no such change.'
      : listTable(
          LIST_COLUMNS,
          entries.map(({ at, action: change, clientId, keyId, actor, actorKeyId, from, details }) => {
            const by = actorKeyId === null ? actor : `${actor} ${actorKeyId}`;
            return [new Moment(at), change, clientId, keyId, by, from, JSON.stringify(details)];
          }),
          view,
        ),
});

/** Refuses a filter that is no id: its empty result would be read as proof that nothing was changed. */
function checked(input: Input): Input {
  for (const name of ['client', 'key'] as const) {
    const given = input[name];
    if (given !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(given))
      throw new InvalidArgumentError(`--${name}: This must be an id; \`petstore ${name} list\` shows them.`);
  }
  return input;
}
