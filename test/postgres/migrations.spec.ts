import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate, schemaStatus } from '../../src/database/schema.js';
import { emptyFolder } from '../support/service-process.js';

it('a migration keeps the clients and keys that were there, in both directions', async () => {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const dataSource = await openDataSource({ databaseUrl: `sqlite:${join(path, 'a.sqlite')}` });
  await migrate(dataSource);
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
  await dataSource.destroy();
});
