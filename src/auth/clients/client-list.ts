import type { EntityManager, SelectQueryBuilder } from 'typeorm';
import { isoOf } from '../../core/time/clock.js';
import { DAY_MS } from '../../core/time/duration.js';
import {
  BY_CREATION,
  type Page,
  type PageRequest,
  brokenCursor,
  keysetPage,
} from '../../database/keyset-page.js';
import { startOf } from '../../throttling/quota.js';
import type { Plan } from '../../throttling/plans.js';
import { ALERTS, type AlertKind, ClientAlert } from './client-alert.entity.js';
import { Client } from './client.entity.js';

/** Clients with a key that expires within this time are listed as such, in milliseconds. */
export const EXPIRING_MS = 7 * DAY_MS;

/** States by which clients are listed: those of ALERTS with most of it first, the others in the order of the list. */
export const CLIENT_STATES = [
  'refused',
  'refused_today',
  'near_limit',
  'banned',
  'suspended',
  'expiring',
  'failing',
  'deprecated',
] as const;
export type ClientState = (typeof CLIENT_STATES)[number];

/** Orders of a list of clients, descending with a leading minus. */
export const CLIENT_ORDERS = ['createdAt', '-createdAt', 'name', '-name'] as const;

/** Which clients a list has, and in which order. */
export interface ClientFilter {
  /** Text that the name holds, in whichever case its letters A to Z are. */
  readonly name?: string | undefined;
  readonly plan?: Plan | undefined;
  readonly state?: ClientState | undefined;
  /** The oldest first without it. */
  readonly sort?: (typeof CLIENT_ORDERS)[number] | undefined;
}

const WORKING = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
/** The statements that select the ids of the clients in a state, by its name. `:now` and `:soon` are instants as ISO 8601 text. */
const STATES = new Map<ClientState, string>([
  ['banned', `SELECT client_id FROM api_keys WHERE banned_until > :now AND ${WORKING}`],
  ['suspended', `SELECT id FROM clients WHERE suspended_at > ''`],
  [
    'expiring',
    // A rotated key expires as it should.
    'SELECT client_id FROM api_keys WHERE expires_at > :now AND expires_at <= :soon AND revoked_at IS NULL AND replaced_by IS NULL',
  ],
]);

/** Defines a state of clients that a module knows, by the statement that selects their ids. It should use an index. */
export function defineClientState(state: ClientState, statement: string): void {
  STATES.set(state, statement);
}

/** A page of clients, and how many there are in all. `now` is in ms since the Unix epoch. */
export async function clientPage(
  manager: EntityManager,
  request: PageRequest,
  filter: ClientFilter,
  now: number,
): Promise<Page<Client>> {
  const { state, sort } = filter;
  if (state !== undefined && isAlert(state)) {
    const query = alerted(manager, filter, state, now);
    const total = await query.getCount();
    const { items, ...more } = await alertedMost(query, request);
    return { ...more, total, items: items.map(({ client }) => client) };
  }
  const query = filtered(manager.createQueryBuilder(Client, 'client'), filter, now);
  const total = await query.getCount();
  const isDescending = sort?.startsWith('-') === true;
  const order = sort && { property: sort.replace('-', ''), isDescending };
  return { ...(await keysetPage(query, order ? { ...request, order } : request, BY_CREATION)), total };
}

/** How many clients are in a state. */
export async function countClients(manager: EntityManager, state: ClientState, now: number): Promise<number> {
  if (isAlert(state)) return alerted(manager, {}, state, now).getCount();
  return filtered(manager.createQueryBuilder(Client, 'client'), { state }, now).getCount();
}

function isAlert(state: ClientState): state is AlertKind {
  return state in ALERTS;
}

/** The clients with most of a kind of alerts, and how much that is; after a position, those that follow it. */
async function alertedMost(
  query: SelectQueryBuilder<Client>,
  { limit, after }: PageRequest,
): Promise<Page<{ readonly client: Client; readonly amount: number }>> {
  if (after) {
    const [amount = '', clientId = ''] = after;
    if (!/^\d{1,10}$/.test(amount) || !/^[\w-]{1,36}$/.test(clientId)) throw brokenCursor();
    query.andWhere('(alert.amount, client.id) < (:amount, :clientId)', { amount: Number(amount), clientId });
  }
  const { entities, raw } = await query
    .addSelect('alert.amount', 'amount')
    .orderBy('alert.amount', 'DESC')
    .addOrderBy('client.id', 'DESC')
    .limit(limit + 1)
    .getRawAndEntities<{ amount: number | string }>();
  const found = entities.map((client, at) => ({ client, amount: Number(raw[at]?.amount) }));
  const items = found.slice(0, limit);
  const last = items.at(-1);
  if (found.length <= limit || last === undefined) return { items };
  return { items, next: [String(last.amount), last.client.id] };
}

/** The clients with most requests refused in the last 60 minutes, and how many those are. `now` is in ms since the Unix epoch. */
export async function refusedMost(manager: EntityManager, limit: number, now: number) {
  const { items } = await alertedMost(alerted(manager, {}, 'refused', now), { limit });
  return items.map(({ client: { id, name }, amount }) => ({ clientId: id, name, refused: amount }));
}

/** The clients with a kind of alerts, joined with the `amount` that they have of it: a cost of the clients that have any, not of all. */
function alerted(
  manager: EntityManager,
  { name, plan }: ClientFilter,
  kind: AlertKind,
  now: number,
): SelectQueryBuilder<Client> {
  const { lengthMs, windows } = ALERTS[kind];
  const since = startOf(now, lengthMs) - (windows - 1) * lengthMs;
  const query = manager
    .createQueryBuilder(Client, 'client')
    .innerJoin(
      (alerts) =>
        alerts
          .select('one.clientId', 'client_id')
          .addSelect('SUM(one.amount)', 'amount')
          .from(ClientAlert, 'one')
          .where('one.kind = :kind AND one.start BETWEEN :since AND :now', { kind, since, now })
          .groupBy('one.clientId'),
      'alert',
      'alert.client_id = client.id',
    );
  return filtered(query, { name, plan }, now);
}

function filtered<Row extends object>(
  query: SelectQueryBuilder<Row>,
  { name, plan, state }: ClientFilter,
  now: number,
): SelectQueryBuilder<Row> {
  if (name !== undefined) {
    // No character has a special meaning in the text that is looked for.
    const holds = `%${name.replaceAll(/[!%_]/g, '!$&')}%`;
    query.andWhere(`LOWER(client.name) LIKE LOWER(:holds) ESCAPE '!'`, { holds });
  }
  if (plan !== undefined) query.andWhere('client.plan = :plan', { plan });
  if (state !== undefined)
    query.andWhere(`client.id IN (${STATES.get(state) ?? ''})`, {
      now: isoOf(now),
      soon: isoOf(now + EXPIRING_MS),
    });
  return query;
}
