import { describe, expect, it, onTestFinished } from 'vitest';
import { DataSource } from 'typeorm';
import { QuietWrites } from '../src/database/quiet-writes.js';
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
  start: () => Promise<ServiceProcess>;
}> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const json = async (...args: string[]) =>
    JSON.parse((await petstore(path, [...args, '--json'])).stdout) as { id: string; key: string };
  const { id } = await json('client', 'create', '--name', 'A', '--plan', 'pro');
  const { key } = await json('key', 'issue', '--client', id);
  const start = async () => {
    const service = await ServiceProcess.start(path);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    return service;
  };
  return { path, id, key, start };
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
        { timeout: 5_000 },
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

  async function open() {
    const service = await Store.open();
    onTestFinished(() => service.close());
    return new DatabaseQuotaJournal(service.app.get(DataSource), service.app.get(QuietWrites));
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
    for (let sent = 0; sent < 20; sent += 1) await store.take(request(1, 1), NOW + 3_000);
    const bannedUntil = NOW + 3_000 + 5 * MINUTE_MS;
    await save(store, journal);

    const restarted = new MemoryQuotaStore(journal);
    restarted.restoreBans(await journal.bans(NOW + 4_000), NOW + 4_000);
    expect((await restarted.take(request(1), NOW + 4_000)).bannedUntil).toBe(bannedUntil);

    await journal.lift('key-1', NOW + 5_000);
    expect(await journal.liftedSince(NOW)).toEqual(['key-1']);
    expect(await journal.bans(NOW + 6_000)).toEqual([]);
  });

  it('drops counts of days long past', async () => {
    const journal = await open();
    const store = new MemoryQuotaStore(journal);
    await store.take(request(1), NOW - 100 * DAY_MS);
    await save(store, journal);
    await store.take(request(1), NOW);
    await save(store, journal);
    const today = Math.floor(NOW / DAY_MS) * DAY_MS;
    expect(await journal.days(['client:1'], 0)).toEqual([{ key: 'client:1', start: today, used: 1 }]);
  });
});

it('petstore key unban reaches a running service', async () => {
  const { path, id, key, start } = await production();
  const service = await start();
  const send = async () =>
    (
      await fetch(`${service.url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } })
    ).json() as Promise<{ code?: string }>;
  // 300 a minute, then two forgiven seconds, then twenty strikes.
  await expect
    .poll(async () => (await Promise.all(Array.from({ length: 100 }, send))).at(-1)?.code, {
      timeout: 15_000,
      interval: 500,
    })
    .toBe('api_key_banned');
  const show = async () =>
    JSON.parse((await petstore(path, ['client', 'show', id, '--json'])).stdout) as {
      bans: { keyId: string }[];
    };
  await expect.poll(async () => (await show()).bans.length, { timeout: 5_000 }).toBe(1);
  const [ban] = (await show()).bans;
  expect((await petstore(path, ['key', 'unban', ban?.keyId ?? ''])).code).toBe(0);
  await expect
    .poll(async () => (await send()).code, { timeout: 5_000, interval: 300 })
    .not.toBe('api_key_banned');
}, 60_000);
