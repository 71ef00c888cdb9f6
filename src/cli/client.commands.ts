import type { INestApplication } from '@nestjs/common';
import type { Client } from '../accounts/client.entity.js';
import { ClientsService } from '../accounts/clients.service.js';
import { UsageService } from '../accounts/usage.service.js';
import { type ClientUsageDto, toClientUsageDto } from '../faces/dto/client-usage.dto.js';
import { ClientChangesDto, type ClientDto, NewClientDto, toClientDto } from '../faces/dto/client.dto.js';
import { PLANS } from '../throttling/plans.js';
import { type Call, FORCE, JSON_OPTION, command, group } from './command.js';
import { Moment, listTable } from './list-table.js';
import { DAYS, WIDE, option, positiveInteger, required } from './options.js';
import { everyPage, inputOf } from './service-calls.js';
import { type Cell, printable, tableOf } from './table.js';

const ID = ['<id>'] as const;
const NAME = required('--name <name>', 'name of the client, 1 to 255 characters');
const PLAN_AND_LIMITS = [
  required('--plan <plan>', 'plan that sets the limits').choices(PLANS),
  option(
    '--per-minute <requests>',
    'requests per minute; enterprise only, and required there',
    positiveInteger,
  ),
  option(
    '--per-day <requests>',
    'requests per UTC day; enterprise only, and required there',
    positiveInteger,
  ),
];

const LIST_COLUMNS = [
  { title: 'ID' },
  { title: 'NAME', least: 12 },
  { title: 'PLAN' },
  { title: 'PER MINUTE', leaves: 3 },
  { title: 'PER DAY', leaves: 2 },
  { title: 'CREATED', leaves: 1 },
  { title: 'SUSPENDED' },
];

/** Has the service make or change a client, and answers its shown form. */
async function shown(
  app: INestApplication,
  order: (clients: ClientsService) => Promise<Client>,
): Promise<ClientDto> {
  const clients = app.get(ClientsService);
  const client = await order(clients);
  return toClientDto(client, clients.limitsOf(client));
}

/** What both commands that change a client have in common. */
const UPDATE = {
  argument: ID,
  input: (options: object) => inputOf(ClientChangesDto, options),
  run: async (app: INestApplication, { argument: id, input, by }: Call<ClientChangesDto>) =>
    shown(app, (clients) => clients.update(id, input, by)),
};

const create = command({
  name: 'create',
  changes: true,
  description: 'make a client',
  options: [...PLAN_AND_LIMITS, JSON_OPTION, NAME],
  examples: [
    `client create --name 'My shop' --plan pro`,
    `client create --name 'Big shop' --plan enterprise --per-minute 5000 --per-day 500000`,
  ],
  input: (options) => inputOf(NewClientDto, options),
  run: async (app, { input, by }) => shown(app, (clients) => clients.create(input, by)),
  text: (client) => `Made the client ${client.id}.\n${clientText(client)}`,
});

const list = command({
  name: 'list',
  description: 'show clients, oldest first',
  options: [option('--name <text>', 'only those whose name holds this text; A to Z in either case'), WIDE],
  examples: ['client list', 'client list --name shop', 'client list --json'],
  run: async (app, { input: { name } }: Call<{ name?: string }>) => {
    const clients = app.get(ClientsService);
    const filter = name === undefined ? {} : { name };
    const found = await everyPage((page) => clients.list(page, filter));
    return found.map((client) => toClientDto(client, clients.limitsOf(client)));
  },
  text: (clients, _input, view) =>
    clients.length === 0
      ? 'There is no such client; make one with `petstore client create`.'
      : listTable(
          LIST_COLUMNS,
          clients.map((one) => [
            one.id,
            one.name,
            one.plan,
            one.perMinute,
            one.perDay,
            new Moment(one.createdAt),
            new Moment(one.suspendedAt),
          ]),
          view,
        ),
});

const show = command({
  name: 'show',
  argument: ID,
  description: 'show a client and what it has used: both windows now, bans, last use, and its last days',
  options: [DAYS],
  examples: ['client show <id>', 'client show <id> --days 30 --json'],
  run: async (app, { argument: id, input }: Call<{ days: number }>) => {
    const client = await app.get(ClientsService).get(id);
    return toClientUsageDto(client, await app.get(UsageService).of(client, input.days));
  },
  text: usageText,
});

const setPlan = command({
  name: 'set-plan',
  changes: true,
  description: 'move a client to another plan; what it has used stays used',
  options: PLAN_AND_LIMITS,
  examples: ['client set-plan <id> --plan business'],
  ...UPDATE,
  text: (client) => `Changed the plan.\n${clientText(client)}`,
});

const rename = command({
  name: 'rename',
  changes: true,
  description: 'give a client another name',
  options: [NAME],
  examples: [`client rename <id> --name 'My other shop'`],
  ...UPDATE,
  text: (client) => `Renamed the client.\n${clientText(client)}`,
});

const suspend = command({
  name: 'suspend',
  changes: true,
  argument: ID,
  description: 'refuse all keys of a client with 403 client_suspended until it is resumed',
  options: [FORCE],
  examples: ['client suspend <id>'],
  run: async (app, { argument: id, force, by }) =>
    shown(app, (clients) => clients.suspend(id, { force }, by)),
  text: (client) => `Suspended the client; servers that run know within 5 s.\n${clientText(client)}`,
});

const resume = command({
  name: 'resume',
  changes: true,
  argument: ID,
  description: 'take the keys of a suspended client again',
  examples: ['client resume <id>'],
  run: async (app, { argument: id, by }) => shown(app, (clients) => clients.resume(id, by)),
  text: (client) => `Resumed the client.\n${clientText(client)}`,
});

const remove = command({
  name: 'delete',
  changes: true,
  argument: ID,
  description: 'delete a client with all its keys, for good; the audit trail stays',
  options: [FORCE],
  examples: ['client delete <id>'],
  confirm: {
    question: async (app, { argument }) => {
      const { id, name } = await app.get(ClientsService).get(argument);
      return `Delete the client ${id} (${name}) with all its keys, for good`;
    },
  },
  run: async (app, { argument: id, force, by }) => shown(app, (clients) => clients.delete(id, { force }, by)),
  text: ({ id, name }) => `Deleted the client ${id} (${printable(name)}) and its keys.`,
});

const COMMANDS = [create, list, show, setPlan, rename, suspend, resume, remove];

/** `petstore client …`: the accounts that hold a plan. */
export const CLIENT_COMMANDS = group('client', 'accounts that hold a plan and own keys', COMMANDS);

function clientText(client: ClientDto): string {
  return tableOf(clientRows(client));
}

function clientRows(client: ClientDto): Cell[][] {
  return [
    ['id', client.id],
    ['name', client.name],
    ['plan', client.plan],
    ['per minute', client.perMinute],
    ['per day', client.perDay],
    ['created', client.createdAt],
    ...(client.suspendedAt === null ? [] : [['suspended', client.suspendedAt]]),
  ];
}

function usageText(client: ClientUsageDto): string {
  const { windows, bans, lastUsedAt, days, deprecatedCalls } = client;
  return tableOf([
    ...clientRows(client),
    ...windows.map((window) => [
      `this ${window.name}`,
      `${window.used} used, ${window.remaining} left; full again at ${window.resetsAt}`,
    ]),
    ['last used', lastUsedAt ?? 'never'],
    ...bans.map(({ keyId, bannedUntil }) => ['banned', `key ${keyId} until ${bannedUntil}`]),
    ...days.map(({ date, requests }) => [date, `${requests} requests`]),
    ...deprecatedCalls.map(({ operation, calls, lastDay }) => [
      'deprecated',
      `${calls} calls of ${operation}, the last on ${lastDay}`,
    ]),
  ]);
}
