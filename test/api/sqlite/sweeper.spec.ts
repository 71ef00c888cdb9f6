import { rename, stat } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Sweeper } from '../../../src/database/sweeper.js';
import { KeyBan } from '../../../src/throttling/memory/quota-journal.entity.js';
import { databaseOfTest } from '../../support/service-process.js';
import type { TestService, TestServiceOptions } from '../../kit/test-service.js';
import { openForTest } from '../../support/opened.js';

const DAY = 86_400_000;
const MIB = 2 ** 20;
const ROWS = 20_000;

const fileOf = ({ app }: TestService) => String(app.get(DataSource).options.database);

async function open(options: TestServiceOptions = {}) {
  const service = await openForTest({ at: '2026-11-20T12:00:00.000Z', ...options });
  const count = async (table: string): Promise<number> => {
    const [row] = await service.app
      .get(DataSource)
      .query<{ n: number }[]>(`SELECT COUNT(*) AS n FROM ${table}`);
    return row?.n ?? 0;
  };
  /** Some 500 bytes a row, from the day before yesterday. */
  const fill = (rows: number) =>
    service.app.get(DataSource).query(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
       INSERT INTO idempotency_entries (client_id, key, digest, status, headers, body, created_at)
       SELECT 'c', 'k' || i, hex(zeroblob(32)), 201, '{}', hex(zeroblob(180)), '2026-11-18T12:00:00.000Z' FROM n`,
    );
  return { service, count, fill, sweep: () => service.app.get(Sweeper).sweep() };
}

it('a start waits for no old rows, and a stop for one batch, not for all', async () => {
  const environment = { DATABASE_URL: await databaseOfTest() };
  const first = await open({ environment });
  await first.fill(20_000);
  const sweeping = first.sweep();
  await first.service.close();
  await sweeping;
  const { count, sweep } = await open({ environment });
  expect(await count('idempotency_entries')).toBeGreaterThan(0);
  await sweep();
  expect(await count('idempotency_entries')).toBe(0);
});

it('an outage is logged once, not for each table', async () => {
  const { service, sweep } = await open({ database: 'file' });
  const file = fileOf(service);
  const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  onTestFinished(() => error.mockRestore());
  await rename(file, `${file}.away`);
  await expect
    .poll(async () => (await service.request('GET', '/health/ready', { key: null })).status)
    .toBe(503);
  error.mockClear();
  await sweep();
  // Background loops may log the outage as well.
  const errors = error.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('Old rows'));
  expect(errors).toEqual([expect.stringMatching(/^Old rows of \w+ cannot be deleted/)]);
});

it('old rows go a few at a time: writers come between them, and the log stays small', async () => {
  const { service, count, fill, sweep } = await open({ database: 'file' });
  const file = fileOf(service);
  await fill(ROWS);
  await service.app.get(DataSource).query('PRAGMA wal_checkpoint(TRUNCATE)');
  const sweeping = sweep();
  let between = false;
  let log = 0;
  for (let left = ROWS; left > 0;) {
    expect((await service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 } })).status).toBe(
      201,
    );
    left = await count('idempotency_entries');
    between ||= left > 0 && left < ROWS;
    log = Math.max(log, (await stat(`${file}-wal`)).size);
  }
  await sweeping;
  expect(await count('idempotency_entries')).toBe(0);
  expect(between).toBe(true);
  // In one transaction it would be all of the table, some 15 MiB.
  expect(log).toBeLessThan(8 * MIB);
});

it('bans that are no longer needed are deleted, others stay', async () => {
  const { service, sweep } = await open();
  const { manager } = service.app.get(DataSource);
  const now = service.clock.now();
  const ban = (keyId: string, of: Partial<KeyBan>): KeyBan => ({
    keyId,
    retryAt: 0,
    forgivenUntil: 0,
    strikes: 0,
    lastStrikeAt: 0,
    bans: 1,
    bannedUntil: 0,
    liftedAt: 0,
    ...of,
  });
  await manager.insert(KeyBan, [
    ban('long past', { bannedUntil: now - 2 * DAY, lastStrikeAt: now - 2 * DAY }),
    ban('banned', { bannedUntil: now + 1 }),
    ban('on the ladder', { bannedUntil: now - 1, lastStrikeAt: now - 1 }),
    ban('told to wait', { retryAt: now + 1 }),
    ban('lifted', { liftedAt: now - 1 }),
    ban('of a wrong clock', { bannedUntil: now + 3_650 * DAY }),
    ...(['retryAt', 'lastStrikeAt', 'liftedAt'] as const).map((column) =>
      ban(`of a wrong clock: ${column}`, { bannedUntil: now + 1, [column]: now + DAY + 1 }),
    ),
  ]);
  await sweep();
  const bans = await manager.find(KeyBan, { order: { keyId: 'ASC' } });
  expect(bans.map(({ keyId }) => keyId)).toEqual([
    'banned',
    'lifted',
    'of a wrong clock',
    'of a wrong clock: lastStrikeAt',
    'of a wrong clock: liftedAt',
    'of a wrong clock: retryAt',
    'on the ladder',
    'told to wait',
  ]);
  const cut = { retryAt: now, lastStrikeAt: now, liftedAt: 0 };
  expect(bans.slice(2, 6)).toMatchObject([
    { ...cut, bannedUntil: now + DAY },
    ...[1, 2, 3].map(() => ({ ...cut, bannedUntil: now + 1 })),
  ]);
});
