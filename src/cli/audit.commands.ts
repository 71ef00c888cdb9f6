import type { Command } from 'commander';
import { AuditEntryDto, toAuditEntryDto } from '../admin/dto/audit-entry.dto.js';
import { AuditService } from '../audit/audit.service.js';
import { examples, jsonOption, positiveInteger } from './arguments.js';
import { everyPage } from './every-page.js';
import { Refusal } from './refusal.js';
import { print, type Shell } from './shell.js';
import { tableOf } from './table.js';

interface ListOptions {
  readonly client?: string;
  readonly key?: string;
  readonly limit: number;
  readonly json: boolean;
}

/** `petstore audit …`: who changed what. */
export function addAuditCommands(program: Command, shell: Shell): void {
  const audit = program.command('audit').description('who changed what on which client or key, and when');

  audit
    .command('list')
    .description('show what was changed, latest first')
    .option('--client <id>', 'only changes of this client and its keys')
    .option('--key <id>', 'only changes of this key')
    .option('--limit <entries>', 'how many at most', positiveInteger, 100)
    .addOption(jsonOption())
    .addHelpText('after', examples('audit list', 'audit list --client <id> --limit 1000 --json'))
    .action(async ({ client, key, limit, json }: ListOptions) => {
      refuseNoUuid('client', client);
      refuseNoUuid('key', key);
      const filter = {
        ...(client === undefined ? {} : { clientId: client }),
        ...(key === undefined ? {} : { keyId: key }),
      };
      const entries = await shell.withApp((app) =>
        everyPage((page) => app.get(AuditService).list(page, filter), limit),
      );
      print(shell, json, entries.map(toAuditEntryDto), listText(entries.map(toAuditEntryDto)));
    });
}

function listText(entries: readonly AuditEntryDto[]): string {
  if (entries.length === 0) return 'There is no such change.';
  return tableOf([
    ['AT', 'ACTION', 'CLIENT', 'KEY', 'BY', 'FROM', 'DETAILS'],
    ...entries.map(({ at, action, clientId, keyId, actor, actorKeyId, from, details }) => [
      at,
      action,
      clientId ?? '-',
      keyId ?? '-',
      actorKeyId === null ? actor : `key ${actorKeyId}`,
      from ?? '-',
      JSON.stringify(details),
    ]),
  ]);
}

/** A filter that fits nothing would be taken for proof that nothing happened. */
function refuseNoUuid(option: string, id: string | undefined): void {
  if (id === undefined || /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)) return;
  throw new Refusal(`--${option}: This must be an id in lower case; \`petstore ${option} list\` shows them.`);
}
