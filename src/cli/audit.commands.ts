import { toAuditEntryDto } from '../faces/dto/audit-entry.dto.js';
import { AuditService } from '../audit/audit.service.js';
import { command, group } from './command.js';
import { Refusal } from './refusal.js';
import { Moment, listTable } from './list-table.js';
import { WIDE, option, positiveInteger } from './options.js';
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

const list = command({
  name: 'list',
  description: 'show what was changed, latest first',
  options: [
    option('--client <id>', 'only changes of this client and its keys'),
    option('--key <id>', 'only changes of this key'),
    option('--limit <entries>', 'how many at most', positiveInteger, 100),
    WIDE,
  ],
  examples: ['audit list', 'audit list --client <id> --limit 1000 --json'],
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
          entries.map(({ at, action, clientId, keyId, actor, actorKeyId, from, details }) => {
            const by = actorKeyId === null ? actor : `${actor} ${actorKeyId}`;
            return [new Moment(at), action, clientId, keyId, by, from, JSON.stringify(details)];
          }),
          view,
        ),
});

/** `petstore audit …`: who changed what. */
export const AUDIT_COMMANDS = group('audit', 'who changed what on which client or key, and when', [list]);

/** Refuses a filter that is no id: its empty result would be read as proof that nothing was changed. */
function checked(input: Input): Input {
  for (const name of ['client', 'key'] as const) {
    const id = input[name];
    if (id !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id))
      throw new Refusal(`--${name}: This must be an id in lower case; \`petstore ${name} list\` shows them.`);
  }
  return input;
}
