import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientRequests } from '../../src/auth/usage/client-requests.service.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { neverRefused } from '../../src/throttling/bans.js';
import { QuotaJournal } from '../../src/throttling/memory/quota-journal.js';
import { UPSERT_BANS } from '../../src/throttling/memory/quota-journal.statements.js';
import { runForRows } from '../../src/database/rows-as-json.js';
import { type TestServiceOptions } from '../kit/test-service.js';
import { refuseWrites } from '../support/databases.js';
import { earnBan } from '../support/earn-ban.js';
import { databaseOf, openForTest } from '../support/opened.js';

async function open(options: TestServiceOptions = {}) {
  const service = await openForTest({ at: '2026-11-20T23:59:10.250Z', plan: 'pro', ...options });
  const send = async (times: number, key?: string | null) => {
    for (let sent = 0; sent < times; sent += 1)
      await service.request('GET', '/v1/pets/1', key === undefined ? {} : { key });
  };
  const flush = async () => {
    await service.app.get(QuotaJournal).flush();
    await service.app.get(ClientRequests).flush();
  };
  const rows = (sql: string) => service.app.get(DataSource).query<Record<string, unknown>[]>(sql);
  return { service, send, flush, rows };
}

/** Calls of the deprecated operation that all requests here are, by day. */
const DEPRECATED = `SELECT sum(requests) AS calls FROM request_counts
  WHERE client_id <> '' AND outcome = 'deprecated' AND length_ms = 86400000 GROUP BY window_start ORDER BY window_start`;

/** The numbers of a column, in the order of the rows. */
const numbers = (found: Record<string, unknown>[], column: string) => found.map((row) => Number(row[column]));

it('what cannot be written is retained, and written with later changes, also while the write fails', async () => {
  const { service, flush, rows } = await open();
  const transactions = service.app.get(Transactions, { strict: false });
  const perDay: number[] = [];
  for (let outage = 0; outage < 2; outage += 1) {
    perDay.push(0);
    const count = async () => {
      perDay[outage] = (perDay[outage] ?? 0) + 1;
      // Where connections were ended, 503 may come first, which counts for nobody.
      while ((await service.request('GET', '/v1/pets/x')).status !== 400);
    };
    await refuseWrites(service.app.get(DataSource), true);
    for (let failed = 0; failed < 2; failed += 1) {
      await count();
      await flush();
    }
    const counted: Promise<void>[] = [];
    const failing = vi.spyOn(transactions, 'uncached').mockImplementation(async () => {
      counted.push(count());
      await Promise.all(counted);
      throw new Error('disk I/O error');
    });
    await flush();
    failing.mockRestore();
    // Also of writes that the service has started by itself: they belong to the minute before.
    await Promise.all(counted);
    // Counts of the minute before are out of date then, those of the day before are not.
    service.clock.advance(60_000);
    await count();
    await refuseWrites(service.app.get(DataSource), false);
  }
  // The day ends between the two outages.
  const [first = 0, second = 0] = perDay;
  const expected = [first - 1, second + 1];
  const written = async (sql: string, column: string) => {
    await flush();
    return numbers(await rows(sql).catch(() => []), column);
  };
  await expect
    .poll(() => written('SELECT used FROM quota_counts ORDER BY window_start', 'used'))
    .toEqual(expected);
  await expect.poll(() => written('SELECT used FROM quota_minutes', 'used')).toEqual([1]);
  await expect.poll(() => written(DEPRECATED, 'calls')).toEqual(expected);
});

it('two processes on one database add up; addresses are counted only in memory', async () => {
  const one = await open({ database: 'file' });
  const other = await open({ environment: databaseOf(one.service) });
  await one.send(5);
  await other.send(7, one.service.key);
  await one.send(3, null);
  await Promise.all([one.flush(), other.flush()]);
  expect(await one.rows('SELECT key, used FROM quota_counts')).toMatchObject([
    { key: `client:${one.service.clientId}` },
  ]);
  for (const table of ['quota_counts', 'quota_minutes'])
    expect(numbers(await one.rows(`SELECT used FROM ${table}`), 'used')).toEqual([12]);
  expect(numbers(await one.rows(DEPRECATED), 'calls')).toEqual([12]);
});

it('a ban that another process has lifted ends, and is not written back', async () => {
  const { service, flush, rows } = await open({ database: 'file', plan: 'free' });
  const [apiKey] = (await service.app.get(ApiKeysService).list({ limit: 1 })).items;
  const other = await open({ environment: databaseOf(service) });
  expect((await earnBan(service)).body.code).toBe('api_key_banned');
  other.service.clock.set(new Date(service.clock.now()).toISOString());
  await other.service.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
  await flush();
  expect((await service.request('GET', '/v1/pets?limit=1')).body.code).toBe('rate_limit_exceeded');
  expect(numbers(await rows('SELECT banned_until FROM key_bans'), 'banned_until')).toEqual([0]);
});

it('a ban that starts right after one was lifted holds', async () => {
  const { service, flush } = await open({ plan: 'free' });
  const [apiKey] = (await service.app.get(ApiKeysService).list({ limit: 1 })).items;
  await flush();
  await service.app.get(ApiKeysService).unban(apiKey?.id ?? '', SERVICE_ITSELF);
  expect((await earnBan(service)).body.code).toBe('api_key_banned');
  await flush();
  expect((await service.request('GET', '/v1/pets?limit=1')).body.code).toBe('api_key_banned');
});

it('a ban that is lifted just before it is written is not written', async () => {
  const { service, rows } = await open();
  const journal = service.app.get(QuotaJournal);
  const { manager } = service.app.get(DataSource);
  const banned = { keyId: 'a', ...neverRefused(), bannedUntil: 5_000_000 };
  const written = async (knownLift: number) => {
    await runForRows(manager, [{ ...banned, knownLift }], UPSERT_BANS);
    return numbers(await rows('SELECT banned_until FROM key_bans'), 'banned_until');
  };
  expect(await written(0)).toEqual([5_000_000]);
  await journal.lift('a', 1_000);
  expect(await written(999)).toEqual([0]);
  expect(await written(1_000)).toEqual([5_000_000]);
});

it('a write contains any number of clients and bans, completely or not at all', async () => {
  const { service, rows } = await open();
  const journal = service.app.get(QuotaJournal);
  const strikes = Array.from({ length: 1_300 }, (_, at) => at);
  for (const at of strikes) {
    journal.noteCount(`client:${at}`, 0, 0);
    journal.noteBan(`key-${at}`, { ...neverRefused(), strikes: at });
  }
  await rows('ALTER TABLE key_bans RENAME TO away');
  await journal.flush();
  expect(await rows('SELECT key FROM quota_counts')).toEqual([]);
  await rows('ALTER TABLE away RENAME TO key_bans');
  await journal.flush();
  for (const name of ['quota_counts', 'quota_minutes'])
    expect(numbers(await rows(`SELECT sum(used) AS used FROM ${name}`), 'used')).toEqual([1_300]);
  expect(numbers(await rows('SELECT strikes FROM key_bans ORDER BY strikes'), 'strikes')).toEqual(strikes);
});

it('two instances write the same rows in opposite orders without a deadlock', async () => {
  const one = await open({ database: 'file' });
  const other = await open({ environment: databaseOf(one.service) });
  const logged = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const clients = Array.from({ length: 3_000 }, (_, at) => `client:${at}`);
  const journals = [one, other].map(({ service }) => service.app.get(QuotaJournal));
  for (let round = 0; round < 5; round += 1) {
    for (const [at, journal] of journals.entries())
      for (const client of at === 0 ? clients : clients.toReversed()) journal.noteCount(client, 0, 0);
    await Promise.all(journals.map((journal) => journal.flush()));
  }
  expect(logged.mock.calls).toEqual([]);
  const sums = 'SELECT count(*) AS clients, sum(used) AS used FROM quota_counts';
  const [row] = await one.rows(sums);
  expect([Number(row?.['clients']), Number(row?.['used'])]).toEqual([3_000, 30_000]);
});
