import type { Command } from 'commander';
import { ClientsService } from '../accounts/clients.service.js';
import { UsageService } from '../accounts/usage.service.js';
import { toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { ClientDto, toClientDto } from '../admin/dto/client.dto.js';
import { ClientChangesDto, NewClientDto } from '../admin/dto/client.input.js';
import { days, examples, forceOption, jsonOption, planOption, positiveInteger } from './arguments.js';
import { clientText, clientUsageText } from './client.text.js';
import { everyPage } from './every-page.js';
import { inputOf } from './input.js';
import { commandLineOperator } from './operator.js';
import { type Shell, print } from './shell.js';
import { tableOf } from './table.js';

interface Json {
  readonly json: boolean;
}
interface Plan {
  readonly plan: string;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** `petstore client …`: the accounts that hold a plan. */
export function addClientCommands(program: Command, shell: Shell): void {
  const client = program.command('client').description('accounts that hold a plan and own keys');

  withPlan(client.command('create').description('make a client'))
    .requiredOption('--name <name>', 'name of the client, 1 to 255 characters')
    .addHelpText(
      'after',
      examples(
        `client create --name 'My shop' --plan pro`,
        `client create --name 'Big shop' --plan enterprise --per-minute 5000 --per-day 500000`,
      ),
    )
    .action(async ({ json, ...options }: Json & Plan) => {
      const input = await inputOf(NewClientDto, options);
      const made = await shell.withApp((app) => app.get(ClientsService).create(input, commandLineOperator()));
      show(shell, json, toClientDto(made), `Made the client ${made.id}.`);
    });

  client
    .command('list')
    .description('show all clients, oldest first')
    .addOption(jsonOption())
    .addHelpText('after', examples('client list', 'client list --json'))
    .action(async ({ json }: Json) => {
      const clients = await shell.withApp((app) => everyPage((page) => app.get(ClientsService).list(page)));
      print(shell, json, clients.map(toClientDto), listText(clients.map(toClientDto)));
    });

  client
    .command('show <id>')
    .description('show a client and what it has used: both windows now, bans, last use, and its last days')
    .option('--days <days>', 'how many days to show, today among them; 1 to 90', days, 7)
    .addOption(jsonOption())
    .addHelpText('after', examples('client show <id>', 'client show <id> --days 30 --json'))
    .action(async (id: string, options: Json & { days: number }) => {
      const shown = await shell.withApp(async (app) => {
        const found = await app.get(ClientsService).get(id);
        return toClientUsageDto(found, await app.get(UsageService).of(found, options.days));
      });
      print(shell, options.json, shown, clientUsageText(shown));
    });

  withPlan(
    client.command('set-plan <id>').description('move a client to another plan; what it has used stays used'),
  )
    .addHelpText('after', examples('client set-plan <id> --plan business'))
    .action(async (id: string, { json, ...options }: Json & Plan) => {
      const changes = await inputOf(ClientChangesDto, options);
      const moved = await shell.withApp((app) =>
        app.get(ClientsService).update(id, changes, commandLineOperator()),
      );
      show(shell, json, toClientDto(moved), 'Changed the plan.');
    });

  client
    .command('rename <id>')
    .description('give a client another name')
    .requiredOption('--name <name>', 'name of the client, 1 to 255 characters')
    .addOption(jsonOption())
    .addHelpText('after', examples(`client rename <id> --name 'My other shop'`))
    .action(async (id: string, { json, name }: Json & { name: string }) => {
      const changes = await inputOf(ClientChangesDto, { name });
      const renamed = await shell.withApp((app) =>
        app.get(ClientsService).update(id, changes, commandLineOperator()),
      );
      show(shell, json, toClientDto(renamed), 'Renamed the client.');
    });

  client
    .command('suspend <id>')
    .description('refuse all keys of a client with 403 client_suspended until it is resumed')
    .addOption(forceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('client suspend <id>'))
    .action(async (id: string, options: Json & { force: boolean }) => {
      const suspended = await shell.withApp((app) =>
        app.get(ClientsService).suspend(id, options, commandLineOperator()),
      );
      show(
        shell,
        options.json,
        toClientDto(suspended),
        'Suspended the client; servers that run know within 5 s.',
      );
    });

  client
    .command('resume <id>')
    .description('take the keys of a suspended client again')
    .addOption(jsonOption())
    .addHelpText('after', examples('client resume <id>'))
    .action(async (id: string, { json }: Json) => {
      const resumed = await shell.withApp((app) => app.get(ClientsService).resume(id, commandLineOperator()));
      show(shell, json, toClientDto(resumed), 'Resumed the client.');
    });

  client
    .command('delete <id>')
    .description('delete a client with all its keys, for good; the audit trail stays')
    .addOption(forceOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('client delete <id>'))
    .action(async (id: string, options: Json & { force: boolean }) => {
      const deleted = await shell.withApp((app) =>
        app.get(ClientsService).delete(id, options, commandLineOperator()),
      );
      print(
        shell,
        options.json,
        toClientDto(deleted),
        `Deleted the client ${id} (${deleted.name}) and its keys.`,
      );
    });
}

function withPlan(command: Command): Command {
  return command
    .addOption(planOption())
    .option(
      '--per-minute <requests>',
      'requests per minute; enterprise only, and required there',
      positiveInteger,
    )
    .option(
      '--per-day <requests>',
      'requests per UTC day; enterprise only, and required there',
      positiveInteger,
    )
    .addOption(jsonOption());
}

function show(shell: Shell, json: boolean, client: ClientDto, done: string): void {
  print(shell, json, client, `${done}\n${clientText(client)}`);
}

function listText(clients: readonly ClientDto[]): string {
  if (clients.length === 0) return 'There are no clients yet; make one with `petstore client create`.';
  return tableOf([
    ['ID', 'NAME', 'PLAN', 'PER MINUTE', 'PER DAY', 'CREATED', 'SUSPENDED'],
    ...clients.map(({ id, name, plan, perMinute, perDay, createdAt, suspendedAt }) => [
      id,
      name,
      plan,
      String(perMinute),
      String(perDay),
      createdAt,
      suspendedAt ?? '-',
    ]),
  ]);
}
