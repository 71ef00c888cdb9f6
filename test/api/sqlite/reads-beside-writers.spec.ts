import sqlite3 from 'sqlite3';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declaredScopes } from '../../../src/auth/scopes.js';
import { TestService } from '../../kit/test-service.js';
import { gate } from '../../support/gate.js';
import { UNLIMITED, openForTest } from '../../support/opened.js';

const SCOPES = declaredScopes().map(({ name }) => name);
/** Longer than any wait in the service: a read that waits for the writer is refused, or the test ends first. */
const LONG_MS = 600_000;

async function open(): Promise<{ service: TestService; file: string }> {
  const service = await openForTest({
    database: 'file',
    scopes: SCOPES,
    ...UNLIMITED,
    // What waits is what these suites are about: nothing is refused for how much of it there is.
    environment: { MAX_REQUESTS_IN_FLIGHT: '0' },
  });
  return { service, file: String(service.app.get(DataSource).options.database) };
}

/** Another process holds the write lock, and a write of this one waits for it. */
async function foreignWriter(service: TestService, file: string): Promise<() => Promise<void>> {
  await service.app.get(DataSource).query(`PRAGMA busy_timeout = ${LONG_MS}`);
  const { run, close } = foreigner(file);
  await run('BEGIN IMMEDIATE');
  const waiting = service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
  return async () => {
    await run('COMMIT');
    close();
    expect((await waiting).status).toBe(201);
  };
}

/** A transaction of this process holds the write connection. */
async function ownWriter(service: TestService): Promise<() => Promise<void>> {
  const [started, end] = [gate(), gate()];
  const writing = service.app.get(DataSource).transaction(async (manager) => {
    await manager.query(`UPDATE pets SET name = 'Rex'`);
    started.open();
    await end.opened;
  });
  await started.opened;
  return async () => {
    end.open();
    await writing;
  };
}

function foreigner(file: string): { run: (sql: string) => Promise<void>; close: () => void } {
  const database = new sqlite3.Database(file);
  const run = (sql: string) =>
    new Promise<void>((resolve, reject) => {
      database.exec(sql, (error) => (error ? reject(error) : resolve()));
    });
  return { run, close: () => database.close() };
}

describe.each([
  ['another process holds the write lock', foreignWriter],
  ['a transaction of this process takes long', ownWriter],
])('while %s', (_, start) => {
  it("the first request of a client's day, keys that are not cached and every list get a response", async () => {
    const { service, file } = await open();
    const other = await service.issueKey({ plan: 'pro' });
    const release = await start(service, file);
    const { key } = other;
    const first = await service.request('GET', '/v1/pets', { key });
    expect([first.status, first.headers.get('x-ratelimit-remaining')]).toEqual([200, '299']);
    for (const path of [
      '/admin/clients',
      `/admin/clients/${service.clientId}`,
      '/admin/keys',
      `/admin/keys?clientId=${service.clientId}`,
      `/admin/keys/${other.id}`,
      '/admin/usage',
      '/admin/audit',
    ])
      expect([path, (await service.request('GET', path)).status]).toEqual([path, 200]);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    await release();
  });

  it('a query of a module that starts with WITH succeeds', async () => {
    const { service, file } = await open();
    const release = await start(service, file);
    const query = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) AS sum FROM n`;
    expect(await service.app.get(DataSource).query(query)).toEqual([{ sum: 6 }]);
    await release();
  });
});

describe('a read during a write', () => {
  it('sees the latest commit of any process', async () => {
    const { service, file } = await open();
    const dataSource = service.app.get(DataSource);
    const { run, close } = foreigner(file);
    onTestFinished(close);
    for (let round = 0; round < 50; round += 1) {
      const name = `own ${round}`;
      await dataSource.query(`UPDATE clients SET name = '${name}'`);
      expect(await dataSource.query('SELECT DISTINCT name FROM clients')).toEqual([{ name }]);
      await run(`UPDATE clients SET name = 'foreign ${round}'`);
      expect(await dataSource.query('SELECT DISTINCT name FROM clients')).toEqual([
        { name: `foreign ${round}` },
      ]);
    }
  });

  it('goes to the writer if only that has the data', async () => {
    const { service } = await open();
    const dataSource = service.app.get(DataSource);
    await dataSource.query('CREATE TEMP TABLE notes (text varchar)');
    await dataSource.query(`INSERT INTO notes VALUES ('a')`);
    expect(await dataSource.query('SELECT text FROM notes')).toEqual([{ text: 'a' }]);
    expect(await dataSource.query('SELECT last_insert_rowid() AS id, changes() AS changes')).toEqual([
      { id: 1, changes: 1 },
    ]);
    await expect(dataSource.query('SELECT unknown FROM clients')).rejects.toThrow('no such column: unknown');
  });
});

describe('while another process holds the write lock for longer than the wait', () => {
  it('every write is refused with 503 and Retry-After, and not carried out', async () => {
    const { service, file } = await open();
    const { id, key } = await service.issueKey({ plan: 'pro' });
    const { clientId } = (await service.request('GET', `/admin/keys/${id}`)).body as { clientId: string };
    await service.app.get(DataSource).query('PRAGMA busy_timeout = 50');
    const { run, close } = foreigner(file);
    await run('BEGIN IMMEDIATE');
    const headers = { 'idempotency-key': 'a' };
    const pet = { name: 'Rex', categoryId: 1 };
    const writes: [string, string, object?][] = [
      ['POST', '/v1/pets', { json: pet }],
      ['POST', '/v1/pets', { json: pet, headers }],
      ['POST', '/admin/clients', { json: { name: 'A', plan: 'free' } }],
      ['PATCH', `/admin/clients/${clientId}`, { json: { name: 'B' } }],
      ['POST', `/admin/clients/${clientId}/suspend`],
      ['POST', '/admin/keys', { json: { clientId } }],
      ['PATCH', `/admin/keys/${id}`, { json: { label: 'C' } }],
      ['POST', `/admin/keys/${id}/rotate`, { json: {} }],
      ['POST', `/admin/keys/${id}/unban`],
      ['POST', `/admin/keys/${id}/revoke`],
      ['DELETE', `/admin/clients/${clientId}`],
    ];
    for (const [method, path, options] of writes) {
      const { status, headers: sent, body } = await service.request(method, path, options);
      const code = (body as { code: string }).code;
      expect([method, path, status, code]).toEqual([method, path, 503, 'service_unavailable']);
      expect(Number(sent.get('retry-after'))).toBeGreaterThan(0);
    }
    await run('COMMIT');
    close();
    expect((await service.request('GET', '/v1/pets', { key })).body).toEqual([]);
    expect((await service.request('POST', '/v1/pets', { json: pet, headers })).status).toBe(201);
  });

  it('hundreds of writes wait once for it, not one group after the other, and later ones hardly at all', async () => {
    const { service, file } = await open();
    const { run, close } = foreigner(file);
    const startedAt = performance.now();
    const refusedAfter = async () => {
      const sent = performance.now();
      const { status } = await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } });
      expect(status).toBe(503);
      return { sinceStart: performance.now() - startedAt, waited: performance.now() - sent };
    };
    await run('BEGIN IMMEDIATE');
    // More than one group.
    const all = await Promise.all(Array.from({ length: 520 }, refusedAfter));
    const times = all.map(({ sinceStart }) => sinceStart);
    expect(Math.max(...times)).toBeLessThan(2 * Math.min(...times));
    expect((await refusedAfter()).waited).toBeLessThan(Math.min(...times) / 2);
    await run('COMMIT');
    close();
    expect((await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } })).status).toBe(
      201,
    );
  });
});
