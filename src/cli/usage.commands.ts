import type { Command } from 'commander';
import { UsageService } from '../accounts/usage.service.js';
import { ClientUsageDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { days, examples, jsonOption } from './arguments.js';
import { everyPage } from './every-page.js';
import { type Shell, print } from './shell.js';
import { tableOf } from './table.js';

/** `petstore usage …`: what clients have used of their plans. */
export function addUsageCommands(program: Command, shell: Shell): void {
  const usage = program.command('usage').description('what clients have used of their plans');

  usage
    .command('list')
    .description('show what every client has used: both windows now, bans, last use, and its last days')
    .option('--days <days>', 'how many days to show, today among them; 1 to 90', days, 7)
    .option('--deprecated', 'only clients that called deprecated operations in those days', false)
    .addOption(jsonOption())
    .addHelpText('after', examples('usage list', 'usage list --days 30 --json', 'usage list --deprecated'))
    .action(async (options: { json: boolean; days: number; deprecated: boolean }) => {
      const found = await shell.withApp((app) =>
        everyPage((page) => app.get(UsageService).list(page, options.days)),
      );
      const shown = found
        .filter(({ usage: of }) => !options.deprecated || of.deprecatedCalls.length > 0)
        .map(({ client, usage: of }) => toClientUsageDto(client, of));
      const none = options.deprecated ? NOBODY_DEPRECATED : NO_CLIENTS;
      print(shell, options.json, shown, shown.length === 0 ? none : listText(shown, options.days));
    });
}

const NO_CLIENTS = 'There are no clients yet; make one with `petstore client create`.';
const NOBODY_DEPRECATED = 'No client has called a deprecated operation in those days.';

/** Such as `12 GET /v1/pets/:petId`. */
function deprecatedText({ deprecatedCalls }: ClientUsageDto): string {
  return deprecatedCalls.map(({ operation, calls }) => `${calls} ${operation}`).join(', ') || '-';
}

function listText(clients: readonly ClientUsageDto[], lastDays: number): string {
  const used = ({ windows }: ClientUsageDto, name: string): string => {
    const window = windows.find((one) => one.name === name);
    return window ? `${window.used}/${window.limit}` : '-';
  };
  return tableOf([
    [
      'ID',
      'NAME',
      'PLAN',
      'THIS MINUTE',
      'TODAY',
      `LAST ${lastDays} DAYS`,
      'DEPRECATED CALLS',
      'BANNED KEYS',
      'LAST USED',
    ],
    ...clients.map((client) => [
      client.id,
      client.name,
      client.plan,
      used(client, 'minute'),
      used(client, 'day'),
      String(client.days.reduce((sum, { requests }) => sum + requests, 0)),
      deprecatedText(client),
      String(client.bans.length),
      client.lastUsedAt ?? 'never',
    ]),
  ]);
}
