import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { CLIENT_STATES } from '../../src/auth/clients/client-list.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { DomainEvents } from '../../src/events/domain-events.js';
import { insertMany } from '../support/many-clients.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import { openForAll } from '../support/opened.js';

const service = await openForAll({ plan: 'free', at: '2026-11-20T12:00:00.000Z' });
const { key: admin, id: adminKey } = await service.issueKey({
  plan: 'business',
  scopes: ['admin', 'pets:read'],
});
const request = async (path: string) => {
  await service.app.get(ClientRequests).flush();
  await service.app.get(DomainEvents).settled();
  const { body, headers } = await service.request('GET', `/admin/${path}`, { key: admin });
  return { body, total: headers.get('x-total-count'), link: headers.get('link') };
};
const namesIn = async (query: string) =>
  (await request(`clients?${query}`)).body.map(({ name }: Client) => name) as string[];
const inState = async (state: string) => {
  const { states } = (await request('overview')).body as { states: { state: string; clients: number }[] };
  return states.find((one) => one.state === state)?.clients;
};

const ORDERS = [
  '',
  'sort=-createdAt',
  'sort=name',
  'sort=-name',
  'plan=business',
  'plan=business&sort=-name',
];
const LISTS = [
  ...[...ORDERS, ...CLIENT_STATES.map((state) => `state=${state}`)].map(
    (query) => `clients?limit=25&${query}`,
  ),
  'webhooks?state=failing',
  'requests?outcome=429',
  'keys?limit=25',
  'keys?limit=25&state=expiring',
];

/** A node of EXPLAIN (ANALYZE, FORMAT JSON), PostgreSQL manual, "EXPLAIN". */
interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

/** How many rows of tables a plan has read. */
function rowsRead(node: Node): number {
  const {
    'Actual Rows': shown,
    'Rows Removed by Filter': others = 0,
    'Actual Loops': loops,
    Plans = [],
  } = node;
  const own = node['Relation Name'] === undefined ? 0 : (shown + others) * loops;
  return Plans.reduce((sum, inner) => sum + rowsRead(inner), own);
}

describe('with 10,000 clients', async () => {
  await insertMany(service, 10_000);
  const flooder = await service.issueKey({ plan: 'free' });
  const loud = await service.issueKey({ plan: 'free', scopes: ['pets:read'] });
  await hammer(service, 63, loud.key);
  await earnBan(service, flooder.key);

  it('adds up the requests of all clients in the last hour and today', async () => {
    const { traffic } = (await request('overview')).body;
    const { requests, refused } = traffic[0];
    expect(traffic[1]).toMatchObject({ requests, refused, since: '2026-11-20T00:00:00.000Z' });
    expect(requests).toBeGreaterThan(120);
    expect(refused).toBeGreaterThan(20);
  });

  it('the overview names the client that floods first, and the list contains only refused ones', async () => {
    const { body } = await request('overview');
    expect(body.clients).toBe(10_004);
    expect(body.refusedMost.map((one: { clientId: string }) => one.clientId)).toEqual([
      flooder.clientId,
      loud.clientId,
    ]);
    expect(body.refusedMost[1]).toMatchObject({ refused: 3 });
    const list = await request('usage?state=refused&limit=1');
    expect([list.total, list.body[0].id]).toEqual(['2', flooder.clientId]);
    const next = new URLSearchParams(/\?([^>]*)>; rel="next"/.exec(list.link ?? '')?.[1]);
    expect((await request(`usage?${next.toString()}`)).body[0].id).toBe(loud.clientId);
    expect(await inState('refused')).toBe(2);
    // The last requests of an hour are found in the next one.
    service.clock.advance(3_600_000);
    expect([await inState('refused'), (await request('overview')).body.refusedMost[1]]).toMatchObject([
      2,
      { refused: 3 },
    ]);
    service.clock.advance(3_600_000);
    expect([await inState('refused'), await inState('refused_today')]).toEqual([0, 2]);
    service.clock.advance(-7_200_000);
  });

  it('lists those with a banned key until the ban is lifted', async () => {
    expect(await inState('banned')).toBe(1);
    expect((await request('clients?state=banned')).body[0].id).toBe(flooder.clientId);
    await service.request('POST', `/admin/keys/${flooder.id}/unban`, { key: admin });
    expect(await inState('banned')).toBe(0);
  });

  it('lists by plan, name and state, in the requested order, with a total', async () => {
    expect((await request('clients?plan=enterprise')).total).toBe('0');
    expect((await request('clients?plan=business&name=client')).total).toBe('1000');
    expect(await namesIn('name=client&sort=-name&limit=2')).toEqual(['Client 9999', 'Client 9998']);
    expect(await namesIn('name=client&sort=-createdAt&limit=1')).toEqual(['Client 9999']);
    const { id } = (await request('clients?name=Client%204242')).body[0];
    await service.request('POST', `/admin/clients/${id}/suspend`, { key: admin });
    expect(await namesIn('state=suspended')).toEqual(['Client 4242']);
    await service.request('PATCH', `/admin/keys/${loud.id}`, { key: admin, json: { expires: '3d' } });
    expect((await request('clients?state=expiring')).body.map((one: Client) => one.id)).toEqual([
      loud.clientId,
    ]);
    const expiring = async () =>
      (await request('keys?state=expiring')).body.map((one: { id: string }) => one.id);
    expect(await expiring()).toEqual([loud.id]);
    const expiry = async () => (await request(`clients/${loud.clientId}`)).body.keyExpiresAt as string | null;
    expect(await expiry()).toBe(new Date(service.clock.now() + 3 * 86_400_000).toISOString());
    await service.request('POST', `/admin/keys/${loud.id}/rotate`, { key: admin, json: { expires: '90d' } });
    expect([await expiry(), await inState('expiring'), await expiring()]).toEqual([null, 0, []]);
    for (const state of ['near_limit', 'failing', 'deprecated'])
      expect(await namesIn(`state=${state}`)).toEqual([]);
  });

  it('finds clients by name and id, keys by id and prefix, and errors by their request', async () => {
    const search = async (text: string) =>
      (await request(`search?text=${encodeURIComponent(text)}`)).body.map(
        ({ kind, id }: Record<string, string>) => `${kind} ${id}`,
      ) as string[];
    expect(await search('client 1')).toHaveLength(10);
    expect(await search(flooder.clientId)).toEqual([`client ${flooder.clientId}`]);
    expect(await search(adminKey)).toEqual([`key ${adminKey}`]);
    for (const length of [12, 13, 20])
      expect(await search(admin.slice(0, length))).toContain(`key ${adminKey}`);
    expect(await search(`${admin.slice(0, 13)}…`)).toContain(`key ${adminKey}`);
    expect(await search(admin.slice(-6))).toEqual([]);
    await service.request('GET', '/v1/pets/999', { key: admin, headers: { 'x-request-id': 'seen-1' } });
    expect(await search('seen-1')).toEqual(['request seen-1']);
    expect(await search('%')).toEqual([]);
  });

  it('filters the last errors by code and operation, with the name of the client', async () => {
    const query = new URLSearchParams({ code: 'pet_not_found', operation: 'GET /v1/pets/:petId' });
    const { body } = await request(`requests?${query.toString()}`);
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({ keyPrefix: admin.slice(0, 13), clientName: expect.any(String) });
    expect((await request('requests?code=none')).body).toEqual([]);
    const statuses = async (outcome: string) => {
      const found = (await request(`requests?outcome=${outcome}&limit=100`)).body as { status: number }[];
      return [...new Set(found.map(({ status }) => status))];
    };
    expect([await statuses('429'), await statuses('4xx'), await statuses('5xx')]).toEqual([[429], [404], []]);
  });
});

it('lists most refused clients by the index, for any number of them', async () => {
  const dataSource = service.app.get(DataSource);
  if (dataSource.options.type !== 'sqlite') return;
  const plan = await dataSource.query<{ detail: string }[]>(
    `EXPLAIN QUERY PLAN SELECT * FROM client_alerts WHERE kind = 'refused' AND window_start = 1
     AND EXISTS (SELECT 1 FROM clients WHERE id = client_alerts.client_id) ORDER BY amount DESC, client_id DESC LIMIT 26`,
  );
  expect(plan.map(({ detail }) => detail).join('\n')).not.toMatch(/SCAN|TEMP B-TREE/);
});

it('reads no more rows of 10,000 clients than a page has, if an order or a state selects them', async () => {
  const dataSource = service.app.get(DataSource);
  if (dataSource.options.type !== 'postgres') return;
  await dataSource.query('ANALYZE');
  const read: Record<string, number> = {};
  for (const path of LISTS) {
    const pages: { sql: string; parameters: unknown[] }[] = [];
    const { logger } = dataSource;
    const noting = Object.create(logger) as typeof logger;
    noting.logQuery = (sql, parameters = []) => {
      if (/^SELECT .* LIMIT /s.test(sql)) pages.push({ sql, parameters });
    };
    Object.assign(dataSource, { logger: noting });
    await request(path).finally(() => Object.assign(dataSource, { logger }));
    let rows = 0;
    for (const { sql, parameters } of pages) {
      const [plan] = await dataSource.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, parameters);
      rows += rowsRead(plan['QUERY PLAN'][0].Plan);
    }
    expect([path, pages.length > 0]).toEqual([path, true]);
    read[path] = rows;
  }
  const many = Object.entries(read).filter(([, rows]) => rows > 300);
  expect(many).toEqual([]);
});
