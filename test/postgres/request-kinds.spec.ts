import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { RequestCount } from '../../src/auth/usage/client-requests.entity.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { DAY_MS, MINUTE_MS } from '../../src/core/time/duration.js';
import type { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/schema.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import type { TestService } from '../kit/test-service.js';
import { printedBy } from '../support/orders.js';
import { openForTest } from '../support/opened.js';

const ALL = { scopes: ['admin', 'pets:read'] };
/** Kinds that are counted apart, and the most that the rest may have: classes of outcomes, with and without quota, by latency. */
const [OF_DAY, OF_MINUTE, OF_REST] = [1_000, 200, 180];

const open = () => openForTest({ at: '2026-11-20T12:00:10.250Z', ...ALL });

/** The rows of a client and window. */
const rowsOf = ({ app, clientId }: TestService, lengthMs: number): Promise<number> =>
  app.get(DataSource).getRepository(RequestCount).countBy({ clientId, lengthMs });

/** A process that writes only when the test calls it, as one that has just started. */
const processOf = ({ app, clock }: TestService) =>
  new ClientRequests(app.get(Transactions), clock, new Metrics());

/** Notes refused requests, no two of one kind, of 100 keys. */
function flood(
  requests: ClientRequests,
  clientId: string,
  count: number,
  keys: readonly string[],
  from = 0,
): void {
  for (let at = from; at < from + count; at += 1) {
    const [keyId = '', operation] = [keys[at % keys.length], `GET /v1/r${Math.floor(at / keys.length)}`];
    const caller = { clientId, keyId, user: null, scopes: [] };
    const status = at % 2 === 0 ? 404 : 429;
    requests.note({
      caller,
      operation,
      status,
      code: `code_${at}`,
      durationMs: 1,
      requestId: 'r',
      address: undefined,
    });
  }
}

const sumOf = (rows: readonly { requests: number }[]) =>
  rows.reduce((sum, { requests }) => sum + requests, 0);
const KEYS = Array.from({ length: 100 }, () => randomUUID());

describe('the kinds of requests that are counted for a client', () => {
  it('are bounded by day and by minute, over processes and restarts; the sums stay exact', async () => {
    const service = await open();
    const { clientId, clock } = service;
    let sent = 0;
    for (let round = 0; round < 4; round += 1) {
      const requests = processOf(service);
      flood(requests, clientId, 3_000, KEYS, sent);
      sent += 3_000;
      await requests.onModuleDestroy();
      expect(await rowsOf(service, DAY_MS)).toBeLessThanOrEqual(OF_DAY + OF_REST);
      expect(await rowsOf(service, MINUTE_MS)).toBeLessThanOrEqual((round + 1) * (OF_MINUTE + OF_REST));
      clock.advance(MINUTE_MS);
    }
    expect(await rowsOf(service, DAY_MS)).toBeGreaterThanOrEqual(OF_DAY);
    const { body } = await service.request('GET', '/account/usage?days=1');
    expect(body.operations).toHaveLength(200);
    expect(body.operations).toContainEqual(
      expect.objectContaining({ keyId: null, operation: 'other', outcome: '4xx' }),
    );
    expect(sumOf(body.outcomes)).toBe(sent);
    expect(body.days[0].refused).toBe(sent / 2);
    expect(
      sumOf(body.minutes) +
        sumOf(body.minutes.map(({ refused }: { refused: number }) => ({ requests: refused }))),
    ).toBe(sent);
  });

  it('of one client take the place of no other client’s', async () => {
    const service = await open();
    const other = await service.issueKey({ plan: 'pro' });
    const requests = processOf(service);
    // More than wait in all.
    flood(requests, service.clientId, 60_000, KEYS);
    const caller = { clientId: other.clientId, keyId: other.id, user: null, scopes: [] };
    const operation = 'GET /v1/pets';
    requests.note({
      caller,
      operation,
      status: 200,
      code: undefined,
      durationMs: 1,
      requestId: 'r',
      address: undefined,
    });
    await requests.onModuleDestroy();
    const { body } = await service.request('GET', `/admin/clients/${other.clientId}`);
    expect(body.operations).toMatchObject([{ keyId: other.id, operation, outcome: '2xx', requests: 1 }]);
    expect(body.lastUsedAt).toBe('2026-11-20T12:00:10.250Z');
  });

  it('do not grow by methods that no route has, whatever their response', async () => {
    const service = await openForTest({ plan: 'free' });
    for (const method of ['PURGE', 'LINK', 'UNLINK', 'PROPFIND', 'DELETE', 'PUT'])
      for (let sent = 0; sent < 11; sent += 1)
        await service.request(method, sent % 2 ? '/v1/pets' : '/v1/none');
    await service.app.get(ClientRequests).flush();
    const { body } = await service.request('GET', '/account/usage');
    const kinds = body.operations.map((one: { operation: string; outcome: string }) => [
      one.operation,
      one.outcome,
    ]);
    expect(kinds.toSorted()).toEqual([
      ['unmatched', '404 route_not_found'],
      ['unmatched', '405 method_not_allowed'],
      ['unmatched', '429 rate_limit_exceeded'],
    ]);
  });

  it('are shown from what earlier versions have stored without a limit, which an update folds', async () => {
    const service = await open();
    const { clientId } = service;
    const database = service.app.get(DataSource) as Database;
    const isDone = `SELECT 1 FROM schema_migrations WHERE name LIKE 'RequestKinds%'`;
    while ((await database.query<unknown[]>(isDone)).length > 0) await database.undoLastMigration();
    const today = Date.parse('2026-11-20T00:00:00.000Z');
    const numbers =
      database.options.type === 'postgres'
        ? `SELECT generate_series(0, 29999) AS n`
        : `WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 29999) SELECT n FROM s`;
    const insert = (lengthMs: number, start: number, outcome: string) =>
      database.query(`INSERT INTO request_counts SELECT '${clientId}', ${lengthMs}, ${start}, '00000000-0000-4000-8000-0000000000' || (10 + n % 90), 'M' || n || ' unmatched',
        '${outcome}', 0, 1 FROM (${numbers}) AS numbers`);
    for (const ago of [0, 1]) await insert(DAY_MS, today - ago * DAY_MS, '404 route_not_found');
    await insert(MINUTE_MS, today + 12 * 3_600_000, '429 rate_limit_exceeded uncounted');
    await database.query(
      `INSERT INTO request_counts VALUES ('${clientId}', ${DAY_MS}, ${today}, '', 'GET /v1/pets/:petId', 'deprecated', 0, 7)`,
    );
    const check = async () => {
      const { status, body } = await service.request('GET', '/account/usage?days=2');
      expect([status, body.operations?.length]).toEqual([200, 200]);
      const refused = body.outcomes.filter(({ outcome }: { outcome: string }) => outcome.startsWith('4'));
      expect(sumOf(refused)).toBe(60_000);
      expect(sumOf(refused.map(({ lastHour }: { lastHour: number }) => ({ requests: lastHour })))).toBe(
        30_000,
      );
      expect(body.deprecatedCalls).toMatchObject([{ operation: 'GET /v1/pets/:petId', calls: 7 }]);
      expect(
        (await service.request('GET', `/admin/clients/${clientId}?days=2`)).body.operations,
      ).toHaveLength(200);
      expect((await service.request('GET', '/admin/usage?days=2')).status).toBe(200);
      expect((await printedBy(service, ['client', 'show', clientId])).code).toBe(0);
    };
    await check();
    await migrate(database);
    await check();
    expect(await rowsOf(service, DAY_MS)).toBeLessThanOrEqual(2 * (OF_DAY + OF_REST));
    expect(await rowsOf(service, MINUTE_MS)).toBeLessThanOrEqual(OF_MINUTE + OF_REST);
  });
});
