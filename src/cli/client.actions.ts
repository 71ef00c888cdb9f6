import type { INestApplication } from '@nestjs/common';
import type { Client } from '../auth/clients/client.entity.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import { UsageService } from '../auth/clients/usage.service.js';
import { type ClientUsageDto, toClientUsageDto } from '../admin/dto/client-usage.dto.js';
import { ClientChangesDto, type ClientDto, NewClientDto, toClientDto } from '../admin/dto/client.dto.js';
import { type Call, action } from './action.js';
import { Moment, listTable } from './list-table.js';
import { everyPage, inputOf } from './service-calls.js';
import { type Cell, printable, tableOf } from './table.js';

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
  input: (options: object) => inputOf(ClientChangesDto, options),
  run: async (app: INestApplication, { argument: id, input, by }: Call<ClientChangesDto>) =>
    shown(app, (clients) => clients.update(id, input, by)),
};

/** `petstore client create`. */
export const create = action({
  input: (options) => inputOf(NewClientDto, options),
  run: async (app, { input, by }) => shown(app, (clients) => clients.create(input, by)),
  text: (client) => `Made the client ${client.id}.\n${clientText(client)}`,
});

/** `petstore client list`. */
export const list = action({
  run: async (app, { input: { name } }: Call<{ name?: string }>) => {
    const clients = app.get(ClientsService);
    const filter = name === undefined ? {} : { name };
    const found = await everyPage((page) => clients.list(page, filter));
    return found.map((client) => toClientDto(client, clients.limitsOf(client)));
  },
  text: (clients, { name }, view) =>
    clients.length === 0
      ? `There is no ${name === undefined ? '' : 'such '}client; make one with \`petstore client create\`.`
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

/** `petstore client show`. */
export const show = action({
  run: async (app, { argument: id, input }: Call<{ days: number }>) => {
    const client = await app.get(ClientsService).get(id);
    return toClientUsageDto(client, await app.get(UsageService).of(client, input.days));
  },
  text: usageText,
});

/** `petstore client set-plan`. */
export const setPlan = action({
  ...UPDATE,
  text: (client) => `Changed the plan.\n${clientText(client)}`,
});

/** `petstore client rename`. */
export const rename = action({
  ...UPDATE,
  text: (client) => `Renamed the client.\n${clientText(client)}`,
});

/** `petstore client suspend`. */
export const suspend = action({
  run: async (app, { argument: id, force, by }) =>
    shown(app, (clients) => clients.suspend(id, { force }, by)),
  text: (client) => `Suspended the client; servers that run know within 5 s.\n${clientText(client)}`,
});

/** `petstore client resume`. */
export const resume = action({
  run: async (app, { argument: id, by }) => shown(app, (clients) => clients.resume(id, by)),
  text: (client) => `Resumed the client.\n${clientText(client)}`,
});

/** `petstore client delete`. */
export const remove = action({
  confirm: {
    question: async (app, { argument }) => {
      const { id, name } = await app.get(ClientsService).get(argument);
      return `Delete the client ${id} (${name}) with all its keys, for good`;
    },
  },
  run: async (app, { argument: id, force, by }) => shown(app, (clients) => clients.delete(id, { force }, by)),
  text: ({ id, name }) => `Deleted the client ${id} (${printable(name)}) and its keys.`,
});

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
