import type { Command } from 'commander';
import { ClientUsageDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { UsageService } from '../auth/usage.service.js';
import { days, examples, jsonOption } from './arguments.js';
import { everyPage } from './every-page.js';
import { print, type Shell } from './shell.js';
import { tableOf } from './table.js';

/** `petstore usage …`: what clients have used of their plans. */
export function addUsageCommands(program: Command, shell: Shell): void {
  const usage = program.command('usage').description('what clients have used of their plans');

  usage
    .command('list')
    .description('show what every client has used: both windows now, bans, last use, and its last days')
    .option('--days <days>', 'how many days to show, today among them; 1 to 90', days, 7)
    .addOption(jsonOption())
    .addHelpText('after', examples('usage list', 'usage list --days 30 --json'))
    .action(async (options: { json: boolean; days: number }) => {
      const found = await shell.withApp((app) =>
        everyPage((page) => app.get(UsageService).list(page, options.days)),
      );
      const shown = found.map(({ client, usage: of }) => toClientUsageDto(client, of));
      print(shell, options.json, shown, listText(shown, options.days));
    });
}

function listText(clients: readonly ClientUsageDto[], lastDays: number): string {
  if (clients.length === 0) return 'There are no clients yet; make one with `petstore client create`.';
  const used = ({ windows }: ClientUsageDto, name: string): string => {
    const window = windows.find((one) => one.name === name);
    return window ? `${window.used}/${window.limit}` : '-';
  };
  return tableOf([
    ['ID', 'NAME', 'PLAN', 'THIS MINUTE', 'TODAY', `LAST ${lastDays} DAYS`, 'BANNED KEYS', 'LAST USED'],
    ...clients.map((client) => [
      client.id,
      client.name,
      client.plan,
      used(client, 'minute'),
      used(client, 'day'),
      String(client.days.reduce((sum, { requests }) => sum + requests, 0)),
      String(client.bans.length),
      client.lastUsedAt ?? 'never',
    ]),
  ]);
}
