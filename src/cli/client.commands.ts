import type { Command } from 'commander';
import type { Client } from '../auth/client.entity.js';
import { ClientQuotaService, type ClientQuota } from '../auth/client-quota.service.js';
import { ClientsService } from '../auth/clients.service.js';
import type { Plan } from '../throttling/plans.js';
import { planOption, positiveInteger } from './arguments.js';
import { outputOf, tableOf } from './output.js';
import { withApp } from './with-app.js';

interface PlanOptions {
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly json?: boolean;
}

/** `petstore client …`: the accounts that hold a plan. */
export function addClientCommands(program: Command): void {
  const client = program.command('client').description('accounts that hold a plan and own keys');

  withPlan(client.command('create').description('make a client'))
    .requiredOption('--name <name>', 'name of the client, 1 to 255 characters')
    .action(async (options: PlanOptions & { name: string }) => {
      const made = await withApp((app) =>
        app.get(ClientsService).create(options.name, options.plan, options),
      );
      outputOf(options.json ?? false).print(documentOf(made), `Made the client ${made.id}.\n${textOf(made)}`);
    });

  client
    .command('list')
    .description('show all clients')
    .option('--json', 'print one JSON document')
    .action(async (options: { json?: boolean }) => {
      const clients = await withApp((app) => app.get(ClientsService).list());
      const rows = clients.map(({ id, name, plan, limits, createdAt }) => [
        id,
        name,
        plan,
        String(limits.perMinute),
        String(limits.perDay),
        createdAt,
      ]);
      outputOf(options.json ?? false).print(
        clients.map(documentOf),
        rows.length === 0
          ? 'There are no clients yet; make one with `petstore client create`.'
          : tableOf([['ID', 'NAME', 'PLAN', 'PER MINUTE', 'PER DAY', 'CREATED'], ...rows]),
      );
    });

  client
    .command('show <id>')
    .description('show one client: its plan, what it has used today, and its banned keys')
    .option('--json', 'print one JSON document')
    .action(async (id: string, options: { json?: boolean }) => {
      const { found, quota } = await withApp(async (app) => {
        const one = await app.get(ClientsService).get(id);
        return { found: one, quota: await app.get(ClientQuotaService).of(one) };
      });
      outputOf(options.json ?? false).print(
        { ...documentOf(found), usedToday: usedToday(quota), bans: quota.bans },
        `${textOf(found)}\n${quotaTextOf(quota)}`,
      );
    });

  withPlan(
    client.command('set-plan <id>').description('move a client to another plan; what it has used stays used'),
  ).action(async (id: string, options: PlanOptions) => {
    const moved = await withApp((app) => app.get(ClientsService).setPlan(id, options.plan, options));
    outputOf(options.json ?? false).print(documentOf(moved), `Changed the plan.\n${textOf(moved)}`);
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
    .option('--json', 'print one JSON document');
}

/** The minute is left out: without Redis it is known to the serving process alone. */
function usedToday({ windows }: ClientQuota): number {
  const day = windows.find(({ name }) => name === 'day');
  return day ? day.limit - day.remaining : 0;
}

function quotaTextOf(quota: ClientQuota): string {
  const bans = quota.bans.map(({ keyId, bannedUntil }) => [`banned`, `key ${keyId} until ${bannedUntil}`]);
  return tableOf([['used today', String(usedToday(quota))], ...bans]);
}

function documentOf({ id, name, plan, limits, createdAt }: Client): object {
  return { id, name, plan, ...limits, createdAt };
}

function textOf({ id, name, plan, limits, createdAt }: Client): string {
  return tableOf([
    ['id', id],
    ['name', name],
    ['plan', plan],
    ['per minute', String(limits.perMinute)],
    ['per day', String(limits.perDay)],
    ['created', createdAt],
  ]);
}
