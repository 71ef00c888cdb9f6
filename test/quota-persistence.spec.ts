import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { JsonReader } from '../src/database/json-reader.js';
import { QuietWrites } from '../src/database/quiet-writes.js';
import { Sweeper } from '../src/database/sweeper.js';
import { DatabaseQuotaJournal } from '../src/throttling/memory/database-quota-journal.js';
import { MemoryQuotaStore } from '../src/throttling/memory/memory-quota-store.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest } from '../src/throttling/quota.js';
import { emptyFolder, petstore, ServiceProcess } from './support/service-process.js';
import { Store } from './support/store.js';

/** Day's requests left, as the service tells. */
async function dayLeft(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } });
  return Number(/"day";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
}

async function production(): Promise<{
  path: string;
  id: string;
  key: string;
  keyId: string;
  start: () => Promise<ServiceProcess>;
}> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const json = async (...args: string[]) =>
    JSON.parse((await petstore(path, [...args, '--json'])).stdout) as { id: string; key: string };
  const { id } = await json('client', 'create', '--name', 'A', '--plan', 'pro');
  const { key, id: keyId } = await json('key', 'issue', '--client', id);
  const start = async () => {
    const service = await ServiceProcess.start(path);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    return service;
  };
  return { path, id, key, keyId, start };
}

/** Runs one statement on a database file. */
function run(file: string, statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file);
    database.run(statement, (error) => {
      database.close();
      if (error) reject(error);
      else resolve();
    });
  });
}

describe('the day’s counters', () => {
  it('survive a clean stop exactly', async () => {
    const { key, start } = await production();
    const first = await start();
    for (let sent = 0; sent < 25; sent += 1) await dayLeft(first.url, key);
    await first.stop();
    const second = await start();
    expect(await dayLeft(second.url, key)).toBe(10_000 - 26);
  });

  it('survive kill -9, but for at most the last second', async () => {
    const { path, id, key, start } = await production();
    const first = await start();
    for (let sent = 0; sent < 25; sent += 1) await dayLeft(first.url, key);
    // Written when another process can see them.
    await expect
      .poll(
        async () =>
          (
            JSON.parse((await petstore(path, ['client', 'show', id, '--json'])).stdout) as {
              days: { requests: number }[];
            }
          ).days[0]?.requests,
      )
      .toBe(25);
    await dayLeft(first.url, key);
    await first.stop('SIGKILL');
    const second = await start();
    expect([10_000 - 27, 10_000 - 26]).toContain(await dayLeft(second.url, key));
  });
});

describe('the journal in the database', () => {
  const NOW = Date.parse('2026-11-20T12:00:00.000Z');
  const request = (client: number, limit = 1_000): QuotaRequest => ({
    subject: `client:${client}`,
    isClient: true,
    keyId: `key-${client}`,
    windows: [
      { key: `client:${client}`, name: 'minute', limit, lengthMs: MINUTE_MS },
      { key: `client:${client}`, name: 'day', limit: 10_000, lengthMs: DAY_MS },
    ],
  });

  let sweeper: Sweeper;
  async function open() {
    const service = await Store.open();
    onTestFinished(() => service.close());
    const { app } = service;
    sweeper = app.get(Sweeper);
    return new DatabaseQuotaJournal(app.get(DataSource), app.get(JsonReader), app.get(QuietWrites), sweeper);
  }

  const save = async (store: MemoryQuotaStore, journal: DatabaseQuotaJournal) => {
    const { counts, bans } = store.unsaved.drain();
    await journal.write(counts, bans);
  };
  const dayOf = async (store: MemoryQuotaStore, client: number) =>
    (await store.peek(request(client), NOW)).windows[1]?.remaining;

  it('is read once for requests that arrive together', async () => {
    const journal = await open();
    const store = new MemoryQuotaStore(journal);
    let readings = 0;
    const used = journal.used.bind(journal);
    journal.used = (...asked) => {
      readings += 1;
      return used(...asked);
    };
    await Promise.all(Array.from({ length: 50 }, async () => store.take(request(1), NOW)));
    expect([readings, await dayOf(store, 1)]).toEqual([1, 9_950]);
  });

  it.each([
    ['the minute', MINUTE_MS, 0],
    ['the day', DAY_MS, 1],
  ])(
    'may be slow while %s turns: what others were counted in the new one stays',
    async (_, length, index) => {
      const journal = await open();
      const store = new MemoryQuotaStore(journal);
      const turn = Math.floor(NOW / length) * length + length;
      const used = journal.used.bind(journal);
      let answer = (): void => undefined;
      const held = new Promise<void>((resolve) => (answer = resolve));
      journal.used = async (key, ...starts) => {
        if (key === 'client:1') await held;
        return used(key, ...starts);
      };
      const slow = store.take(request(1), turn - 10);
      await store.take(request(2), turn + 10);
      answer();
      expect((await slow).windows.map((window) => window.resetsAt)[index]).toBe(turn + length);
      expect((await store.peek(request(2), turn + 20)).windows[index]?.used).toBe(1);
    },
  );

  it('adds what two processes count', async () => {
    const journal = await open();
    const [one, other] = [new MemoryQuotaStore(journal), new MemoryQuotaStore(journal)];
    for (let sent = 0; sent < 5; sent += 1) await one.take(request(1), NOW);
    for (let sent = 0; sent < 7; sent += 1) await other.take(request(1), NOW);
    await save(one, journal);
    await save(other, journal);
    expect(await dayOf(new MemoryQuotaStore(journal), 1)).toBe(10_000 - 12);
  });

  it('takes 2,000 clients in one writing, and loses none when a writing fails', async () => {
    const journal = await open();
    const store = new MemoryQuotaStore(journal);
    for (let client = 0; client < 2_000; client += 1) await store.take(request(client), NOW);
    const changes = store.unsaved.drain();
    expect(changes.counts).toHaveLength(2_000);
    store.unsaved.putBack(changes);
    await store.take(request(7), NOW);
    await save(store, journal);
    const restarted = new MemoryQuotaStore(journal);
    expect([await dayOf(restarted, 7), await dayOf(restarted, 1_999)]).toEqual([9_998, 9_999]);
  });

  it('keeps bans and the ladder over a restart, and lifts them from another process', async () => {
    const journal = await open();
    const store = new MemoryQuotaStore(journal);
    await store.take(request(1, 1), NOW);
    await store.take(request(1, 1), NOW);
    for (let second = 3; second < 13; second += 1) await store.take(request(1, 1), NOW + second * 1_000);
    await save(store, journal);

    // The strikes so far are remembered, and when the last one was.
    const restarted = new MemoryQuotaStore(journal);
    restarted.restoreBans(await journal.bans(NOW + 12_500), NOW + 12_500);
    await restarted.take(request(1), NOW + 12_500);
    for (let second = 13; second < 23; second += 1) await restarted.take(request(1, 1), NOW + second * 1_000);
    const bannedUntil = NOW + 22_000 + 5 * MINUTE_MS;
    expect((await restarted.take(request(1), NOW + 23_000)).bannedUntil).toBe(bannedUntil);
    await save(restarted, journal);

    const again = new MemoryQuotaStore(journal);
    again.restoreBans(await journal.bans(NOW + 24_000), NOW + 24_000);
    expect((await again.take(request(1), NOW + 24_000)).bannedUntil).toBe(bannedUntil);

    await journal.lift('key-1', NOW + 25_000);
    expect(await journal.liftedSince(NOW)).toEqual([{ keyId: 'key-1', at: NOW + 25_000 }]);
    expect(await journal.bans(NOW + 26_000)).toEqual([]);
  });

  it('drops counts of days long past', async () => {
    const journal = await open();
    const store = new MemoryQuotaStore(journal);
    await store.take(request(1), NOW - 100 * DAY_MS);
    await save(store, journal);
    await store.take(request(1), NOW);
    await save(store, journal);
    await sweeper.sweep();
    const today = Math.floor(NOW / DAY_MS) * DAY_MS;
    expect(await journal.days(['client:1'], 0)).toEqual([{ key: 'client:1', start: today, used: 1 }]);
  });
});

it('petstore key unban reaches a running service', async () => {
  const { path, id, key, keyId, start } = await production();
  // A ban takes 20 seconds to earn: this one is from before the start.
  await run(
    join(path, 'data/petstore.sqlite'),
    `INSERT INTO key_bans (key_id, retry_at, forgiven_until, strikes, last_strike_at, bans, banned_until, lifted_at)
     SELECT '${keyId}', until, 0, 0, until, 1, until, 0 FROM (SELECT ${Date.now() + 5 * MINUTE_MS} AS until)`,
  );
  const service = await start();
  const send = async () =>
    (
      await fetch(`${service.url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } })
    ).json() as Promise<{ code?: string }>;
  expect((await send()).code).toBe('api_key_banned');
  const show = async () =>
    JSON.parse((await petstore(path, ['client', 'show', id, '--json'])).stdout) as {
      bans: { keyId: string }[];
    };
  expect((await show()).bans.map((ban) => ban.keyId)).toEqual([keyId]);
  expect((await petstore(path, ['key', 'unban', keyId])).code).toBe(0);
  await expect.poll(async () => (await send()).code, { interval: 300 }).not.toBe('api_key_banned');
});
