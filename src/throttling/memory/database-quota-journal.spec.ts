import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { openParts, type ServiceParts } from '../../../test/support/service-parts.js';
import type { BanState } from '../bans.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest } from '../quota.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import type { CountChange, QuotaJournal } from './quota-journal.js';

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const TODAY = Date.parse('2026-11-20T00:00:00.000Z');
const FREE: BanState = {
  retryAt: 0,
  forgivenUntil: 0,
  strikes: 0,
  lastStrikeAt: 0,
  bans: 0,
  bannedUntil: 0,
};

const request = (client: number, limit = 1_000): QuotaRequest => ({
  subject: `client:${client}`,
  isClient: true,
  keyId: `key-${client}`,
  windows: [
    { key: `client:${client}`, name: 'minute', limit, lengthMs: MINUTE_MS },
    { key: `client:${client}`, name: 'day', limit: 10_000, lengthMs: DAY_MS },
  ],
});
const count = (key: string, inMinute: number, inDay: number, at = NOW): CountChange => ({
  key,
  minuteStart: Math.floor(at / MINUTE_MS) * MINUTE_MS,
  inMinute,
  dayStart: Math.floor(at / DAY_MS) * DAY_MS,
  inDay,
});
const save = async (store: MemoryQuotaStore, journal: QuotaJournal) => {
  const { counts, bans } = store.unsaved.drain();
  await journal.write(counts, bans);
};
const dayOf = async (store: MemoryQuotaStore, client: number) =>
  (await store.peek(request(client), NOW)).windows[1]?.remaining;
const bansOf = async ({ dataSource }: ServiceParts) =>
  dataSource.query<Record<string, unknown>[]>('SELECT * FROM key_bans ORDER BY key_id');

describe('what a client has used', () => {
  it('adds up in a minute and a day, and begins anew with the next of each', async () => {
    const { journal } = await openParts();
    await journal.write([count('a', 3, 5)], []);
    await journal.write([count('a', 4, 4)], []);
    expect(await journal.used('a', NOW, TODAY)).toEqual({ minute: 7, day: 9 });
    await journal.write([count('a', 2, 2, NOW + MINUTE_MS)], []);
    expect(await journal.used('a', NOW + MINUTE_MS, TODAY)).toEqual({ minute: 2, day: 11 });
    expect(await journal.used('a', NOW, TODAY)).toEqual({ minute: 0, day: 11 });
  });

  it('is of both days when midnight lies between two writings, and of the later minute', async () => {
    const { journal } = await openParts();
    const midnight = TODAY + DAY_MS;
    await journal.write([count('a', 3, 5, midnight - 1), count('a', 2, 2, midnight)], []);
    expect(await journal.used('a', midnight, midnight)).toEqual({ minute: 2, day: 2 });
    expect(await journal.days(['a'], TODAY)).toEqual([
      { key: 'a', start: TODAY, used: 5 },
      { key: 'a', start: midnight, used: 2 },
    ]);
  });

  it('is what two processes count together', async () => {
    const { journal } = await openParts();
    const [one, other] = [
      new MemoryQuotaStore(new SystemClock(), journal),
      new MemoryQuotaStore(new SystemClock(), journal),
    ];
    for (let sent = 0; sent < 5; sent += 1) await one.take(request(1), NOW);
    for (let sent = 0; sent < 7; sent += 1) await other.take(request(1), NOW);
    await save(one, journal);
    await save(other, journal);
    expect(await dayOf(new MemoryQuotaStore(new SystemClock(), journal), 1)).toBe(10_000 - 12);
  });
});

describe('a writing', () => {
  it('takes 2,000 clients and their bans, and loses none when it fails', async () => {
    const parts = await openParts();
    const { journal } = parts;
    const store = new MemoryQuotaStore(new SystemClock(), journal);
    for (let client = 0; client < 2_000; client += 1) await store.take(request(client), NOW);
    const changes = store.unsaved.drain();
    expect(changes.counts).toHaveLength(2_000);
    store.unsaved.putBack(changes);
    await store.take(request(7), NOW);
    for (let client = 0; client < 2_000; client += 1)
      store.unsaved.noteBan(`key-${client}`, { ...FREE, strikes: client });
    await save(store, journal);
    const restarted = new MemoryQuotaStore(new SystemClock(), journal);
    expect([await dayOf(restarted, 7), await dayOf(restarted, 1_999)]).toEqual([9_998, 9_999]);
    const kept = await bansOf(parts);
    expect(kept).toHaveLength(2_000);
    expect(kept.every(({ key_id: id, strikes }) => id === `key-${String(strikes)}`)).toBe(true);
  });

  it('is whole or not at all', async () => {
    const { journal, dataSource } = await openParts();
    await dataSource.query('ALTER TABLE key_bans RENAME TO away');
    await expect(journal.write([count('a', 1, 1)], [{ keyId: 'k', state: FREE }])).rejects.toThrow(
      'key_bans',
    );
    expect(await journal.used('a', NOW, TODAY)).toEqual({ minute: 0, day: 0 });
  });
});

describe('bans', () => {
  it.each([
    ['a ban runs', { bannedUntil: NOW + 1 }, true],
    ['a ban has ended', { bannedUntil: NOW }, false],
    ['the last strike was less than a day ago', { lastStrikeAt: NOW - DAY_MS + 1 }, true],
    ['the last strike was a day ago', { lastStrikeAt: NOW - DAY_MS }, false],
    ['the key was told to wait', { retryAt: NOW + 1 }, true],
    ['the wait is over', { retryAt: NOW }, false],
  ])('are taken up at a start or not, when %s', async (_, state, isTaken) => {
    const { journal } = await openParts();
    const ban = { keyId: 'k', state: { ...FREE, strikes: 3, bans: 2, forgivenUntil: 5, ...state } };
    await journal.write([], [ban]);
    expect(await journal.bans(NOW)).toEqual(isTaken ? [ban] : []);
  });

  it('are lifted for good, and for other processes to see', async () => {
    const parts = await openParts();
    const { journal } = parts;
    await journal.write(
      [],
      [{ keyId: 'k', state: { ...FREE, bans: 4, strikes: 9, bannedUntil: NOW + DAY_MS } }],
    );
    await journal.lift('k', NOW);
    await journal.lift('never seen', NOW + 1);
    expect(await journal.bans(NOW)).toEqual([]);
    const nothing = {
      retry_at: 0,
      forgiven_until: 0,
      strikes: 0,
      last_strike_at: 0,
      bans: 0,
      banned_until: 0,
    };
    expect(await bansOf(parts)).toEqual([
      { key_id: 'k', ...nothing, lifted_at: NOW },
      { key_id: 'never seen', ...nothing, lifted_at: NOW + 1 },
    ]);
    expect(await journal.liftedSince(NOW - 1)).toHaveLength(2);
    expect(await journal.liftedSince(NOW)).toEqual([{ keyId: 'never seen', at: NOW + 1 }]);
  });

  it('outlive a restart with their ladder', async () => {
    const { journal } = await openParts();
    const store = new MemoryQuotaStore(new SystemClock(), journal);
    await store.take(request(1, 1), NOW);
    await store.take(request(1, 1), NOW);
    for (let second = 3; second < 13; second += 1) await store.take(request(1, 1), NOW + second * 1_000);
    await save(store, journal);

    // The strikes so far are remembered, and when the last one was.
    const restarted = new MemoryQuotaStore(new SystemClock(), journal);
    restarted.restoreBans(await journal.bans(NOW + 12_500), NOW + 12_500);
    await restarted.take(request(1), NOW + 12_500);
    for (let second = 13; second < 23; second += 1) await restarted.take(request(1, 1), NOW + second * 1_000);
    const bannedUntil = NOW + 22_000 + 5 * MINUTE_MS;
    expect((await restarted.take(request(1), NOW + 23_000)).bannedUntil).toBe(bannedUntil);
    await save(restarted, journal);

    const again = new MemoryQuotaStore(new SystemClock(), journal);
    again.restoreBans(await journal.bans(NOW + 24_000), NOW + 24_000);
    expect((await again.take(request(1), NOW + 24_000)).bannedUntil).toBe(bannedUntil);
  });
});

describe('what has had its time', () => {
  it.each([
    ['ban', 'banned_until'],
    ['wait', 'retry_at'],
    ['last strike', 'last_strike_at'],
    ['lifting', 'lifted_at'],
  ])('is a %s of more than a day from now, which a wrong clock made', async (_, column) => {
    const parts = await openParts();
    const { journal, sweeper, clock, dataSource } = parts;
    const now = clock.now();
    const state = { ...FREE, bannedUntil: now + 1_000, retryAt: now + 1_000, lastStrikeAt: now };
    await journal.write([], [{ keyId: 'k', state }]);
    await dataSource.query(`UPDATE key_bans SET ${column} = ${now + DAY_MS}`);
    await sweeper.sweep();
    expect((await bansOf(parts))[0]).toMatchObject({ [column]: now + DAY_MS });
    await dataSource.query(`UPDATE key_bans SET ${column} = ${now + DAY_MS + 1}`);
    await sweeper.sweep();
    expect(await bansOf(parts)).toMatchObject([
      {
        banned_until: column === 'banned_until' ? now + DAY_MS : now + 1_000,
        retry_at: now,
        last_strike_at: now,
        lifted_at: 0,
      },
    ]);
  });
});
