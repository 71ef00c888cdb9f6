import { type EntityManager, In, type SelectQueryBuilder } from 'typeorm';
import { isoOf } from '../../core/time/clock.js';
import { DAY_MS } from '../../core/time/duration.js';
import { containing } from '../../database/dialect.js';
import { BY_CREATION, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { startOf } from '../../throttling/quota.js';
import type { Plan } from '../../throttling/plans.js';
import { ALERTS, type AlertKind, ClientAlert } from './client-alert.entity.js';
import { Client } from './client.entity.js';

/** Clients with a key that expires within this time, in milliseconds, are listed as `expiring`. */
export const EXPIRING_MS = 7 * DAY_MS;

/** Filters of the list of clients. The ALERTS list the largest amount first, the others in the order of the list. */
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

/** Sort orders of a list of clients; a leading minus means descending. */
export const CLIENT_ORDERS = ['createdAt', '-createdAt', 'name', '-name'] as const;

/** Filters and sorts a list of clients. */
export interface ClientFilter {
  /** Text contained in the name, ignoring the case of the letters A to Z. */
  readonly name?: string | undefined;
  readonly plan?: Plan | undefined;
  readonly state?: ClientState | undefined;
  /** Default: oldest first. */
  readonly sort?: (typeof CLIENT_ORDERS)[number] | undefined;
}

/** The condition on keys that expire between `:now` and `:soon`. Rotated keys are excluded, because their expiry is intended. */
export const EXPIRING =
  'expires_at > :now AND expires_at <= :soon AND revoked_at IS NULL AND replaced_by IS NULL';
const WORKING = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
/** Statements that select the ids of the clients in a state. `:now` and `:soon` are ISO 8601 text. */
const STATES = new Map<ClientState, string>([
  ['banned', `SELECT client_id FROM api_keys WHERE banned_until > :now AND ${WORKING}`],
  ['suspended', `SELECT id FROM clients WHERE suspended_at > ''`],
  ['expiring', `SELECT client_id FROM api_keys WHERE ${EXPIRING}`],
]);

/** Defines a state of clients by a statement that selects their ids, for a module that owns the data. The statement should use an index. */
export function defineClientState(state: ClientState, statement: string): void {
  STATES.set(state, statement);
}

/** A page of clients, and their total number. `now` is in ms since the Unix epoch. */
export async function clientPage(
  manager: EntityManager,
  request: PageRequest,
  filter: ClientFilter,
  now: number,
): Promise<Page<Client>> {
  const { state, sort } = filter;
  if (state !== undefined && state in ALERTS)
    return alertedPage(manager, request, filter, { kind: state as AlertKind, now });
  const query = filtered(manager.createQueryBuilder(Client, 'client'), filter, now);
  const total = await query.getCount();
  const isDescending = sort?.startsWith('-') === true;
  const order = sort && { property: sort.replace('-', ''), isDescending };
  return { ...(await keysetPage(query, order ? { ...request, order } : request, BY_CREATION)), total };
}

/** The number of clients in a state. */
export async function countClients(manager: EntityManager, state: ClientState, now: number): Promise<number> {
  if (state in ALERTS) return alerted(manager, {}, { kind: state as AlertKind, now }).getCount();
  return filtered(manager.createQueryBuilder(Client, 'client'), { state }, now).getCount();
}

/** A kind of alerts in the current window. */
interface Alerted {
  readonly kind: AlertKind;
  readonly now: number;
}

const BY_AMOUNT = [
  { property: 'amount', isValid: (text: string) => /^\d{1,10}$/.test(text) },
  { property: 'clientId', isValid: (text: string) => /^[\w-]{1,36}$/.test(text) },
] as const;

async function alertedPage(
  manager: EntityManager,
  request: PageRequest,
  filter: ClientFilter,
  of: Alerted,
): Promise<Page<Client>> {
  const query = alerted(manager, filter, of);
  const total = await query.getCount();
  const { items, ...more } = await keysetPage(query, request, BY_AMOUNT, 'DESC');
  return { ...more, total, items: (await clientsOf(manager, items)).map(({ client }) => client) };
}

async function clientsOf(manager: EntityManager, alerts: readonly ClientAlert[]) {
  const clients = await manager.findBy(Client, { id: In(alerts.map(({ clientId }) => clientId)) });
  const byId = new Map(clients.map((client) => [client.id, client]));
  return alerts.flatMap(({ clientId, amount }) => {
    const client = byId.get(clientId);
    return client ? [{ client, amount }] : [];
  });
}

/**
 * The clients with the most refused requests in this hour and the previous one, and the number of clients that had any. `now` is in ms
 * since the Unix epoch.
 */
export async function refusedMost(manager: EntityManager, limit: number, now: number) {
  const { items } = await keysetPage(
    alerted(manager, {}, { kind: 'refused', now }),
    { limit },
    BY_AMOUNT,
    'DESC',
  );
  const found = await clientsOf(manager, items);
  return found.map(({ client: { id, name }, amount }) => ({ clientId: id, name, refused: amount }));
}

function alerted(
  manager: EntityManager,
  { name, plan }: ClientFilter,
  { kind, now }: Alerted,
): SelectQueryBuilder<ClientAlert> {
  const query = manager
    .createQueryBuilder(ClientAlert, 'alert')
    .where('alert.kind = :kind AND alert.start = :start', {
      kind,
      start: startOf(now, ALERTS[kind].lengthMs),
    });
  const existing = filtered(query.subQuery().from(Client, 'client'), { name, plan }, now)
    .select('1')
    .andWhere('client.id = alert.clientId');
  return query.andWhere(`EXISTS ${existing.getQuery()}`).setParameters(existing.getParameters());
}

function filtered<Row extends object>(
  query: SelectQueryBuilder<Row>,
  { name, plan, state }: ClientFilter,
  now: number,
): SelectQueryBuilder<Row> {
  if (name !== undefined) query.andWhere(...containing('client.name', name));
  if (plan !== undefined) query.andWhere('client.plan = :plan', { plan });
  if (state !== undefined)
    query.andWhere(`client.id IN (${STATES.get(state) ?? ''})`, {
      now: isoOf(now),
      soon: isoOf(now + EXPIRING_MS),
    });
  return query;
}
