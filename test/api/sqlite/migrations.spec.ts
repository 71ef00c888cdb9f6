import { expect, it, onTestFinished } from 'vitest';
import { openDataSource } from '../../../src/database/data-source.js';
import { migrate, schemaStatus } from '../../../src/database/schema.js';
import { databaseOfTest } from '../../support/service-process.js';

/** A database with all tables of this build. */
async function migrated() {
  const dataSource = await openDataSource({ databaseUrl: await databaseOfTest() });
  onTestFinished(() => dataSource.destroy());
  await migrate(dataSource);
  return dataSource;
}

it('one that another process has run in the meantime leaves foreign keys checked', async () => {
  const databaseUrl = await databaseOfTest();
  const both = await Promise.all([1, 2].map(() => openDataSource({ databaseUrl })));
  const ran = await Promise.all(both.map((one) => migrate(one)));
  expect(ran.filter(({ length }) => length === 0)).toHaveLength(1);
  for (const one of both) expect(await one.query('PRAGMA foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  await Promise.all(both.map((one) => one.destroy()));
});

it('a migration keeps the clients and keys that were there, in both directions', async () => {
  const dataSource = await migrated();
  const { applied } = await schemaStatus(dataSource);
  const ofFirstRelease = applied.findIndex((name) => name.startsWith('QuotaJournal')) + 1;
  expect(ofFirstRelease).toBeGreaterThan(0);
  const later = applied.slice(ofFirstRelease);
  await dataSource.query(
    `INSERT INTO clients (id, name, plan, created_at) VALUES ('c', 'A', 'pro', '2026-11-20T12:00:00.000Z')`,
  );
  await dataSource.query(
    `INSERT INTO api_keys (id, client_id, digest, prefix, scopes, created_at)
     VALUES ('k', 'c', 'd', 'pst_test_0000', '["pets:read"]', '2026-11-20T12:00:00.000Z')`,
  );
  // Down to the schema of the first release, which had clients, keys, pets and the journal of days.
  for (const _ of later) await dataSource.undoLastMigration();
  expect(await migrate(dataSource)).toEqual(later);
  expect(await dataSource.query('SELECT id, client_id, label, replaced_by FROM api_keys')).toEqual([
    { id: 'k', client_id: 'c', label: null, replaced_by: null },
  ]);
  expect(await dataSource.query('SELECT id, suspended_at FROM clients')).toEqual([
    { id: 'c', suspended_at: null },
  ]);
});

it('Idempotency-Keys that were stored as they were sent are stored as parsed; of two that are equal, the later response stays', async () => {
  const dataSource = await migrated();
  const rewrites = `SELECT 1 FROM schema_migrations WHERE name LIKE 'ParsedIdempotencyKeys%'`;
  while ((await dataSource.query<unknown[]>(rewrites)).length > 0) await dataSource.undoLastMigration();
  const entries = [
    ['a', 'bare', '01', 'stays'],
    ['a', '"quoted"', '01', 'moves'],
    ['a', '"say \\"hi\\""', '01', 'moves'],
    ['a', '"open', '01', 'cannot be sent again'],
    ['a', 'first', '01', 'is replaced'],
    ['a', '"first"', '02', 'replaces'],
    ['a', 'second', '02', 'stays'],
    ['a', '"second"', '01', 'goes'],
    ['b', '"first"', '01', 'is of another client'],
  ];
  for (const [client, key, minute, body] of entries)
    await dataSource.query(
      `INSERT INTO idempotency_entries (client_id, key, digest, status, headers, body, created_at)
       VALUES (?, ?, 'd', 201, '{}', ?, ?)`,
      [client, key, body, `2026-11-20T12:${minute}:00.000Z`],
    );
  expect((await migrate(dataSource))[0]).toMatch(/^ParsedIdempotencyKeys/);
  expect(
    await dataSource.query('SELECT client_id, key, body FROM idempotency_entries ORDER BY client_id, key'),
  ).toEqual([
    { client_id: 'a', key: '"open', body: 'cannot be sent again' },
    { client_id: 'a', key: 'bare', body: 'stays' },
    { client_id: 'a', key: 'first', body: 'replaces' },
    { client_id: 'a', key: 'quoted', body: 'moves' },
    { client_id: 'a', key: 'say "hi"', body: 'moves' },
    { client_id: 'a', key: 'second', body: 'stays' },
    { client_id: 'b', key: 'first', body: 'is of another client' },
  ]);
});
