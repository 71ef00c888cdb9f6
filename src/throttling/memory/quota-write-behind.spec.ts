import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TestClock } from '../../../test/kit/test-clock.js';
import { Settings } from '../../core/config/settings.js';
import type { BanState } from '../bans.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest } from '../quota.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal, type BanChange, type CountChange, type LiftedBan } from './quota-journal.js';
import { QuotaWriteBehind } from './quota-write-behind.js';

/** Keeps what it is given in memory. */
class KeptJournal extends QuotaJournal {
  readonly writings: { counts: readonly CountChange[]; bans: readonly BanChange[] }[] = [];
  readonly lifted: LiftedBan[] = [];
  readonly known: BanChange[] = [];
  failure: Error | undefined;

  used() {
    return Promise.resolve({ minute: 0, day: 0 });
  }

  days() {
    return Promise.resolve([]);
  }

  bans() {
    return Promise.resolve(this.known);
  }

  liftedSince(instant: number) {
    return Promise.resolve(this.lifted.filter(({ at }) => at > instant));
  }

  write(counts: readonly CountChange[], bans: readonly BanChange[]) {
    if (this.failure) return Promise.reject(this.failure);
    this.writings.push({ counts, bans });
    return Promise.resolve();
  }

  lift() {
    return Promise.resolve();
  }
}

const request: QuotaRequest = {
  subject: 'client:a',
  isClient: true,
  keyId: 'key',
  windows: [
    { key: 'client:a', name: 'minute', limit: 100, lengthMs: MINUTE_MS },
    { key: 'client:a', name: 'day', limit: 1_000, lengthMs: DAY_MS },
  ],
};

let clock: TestClock;
let journal: KeptJournal;
let store: MemoryQuotaStore;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  clock = new TestClock('2026-11-20T12:00:00.000Z');
  journal = new KeptJournal();
  store = new MemoryQuotaStore(clock, journal);
});

function open(environment: Readonly<Record<string, string>> = {}): QuotaWriteBehind {
  return new QuotaWriteBehind(store, journal, clock, new Settings({ NODE_ENV: 'test', ...environment }));
}

const take = async () => store.take(request, clock.now());
const written = () => journal.writings.map(({ counts }) => counts.map(({ inDay }) => inDay));
const banUntil = (bannedUntil: number): BanState => ({
  retryAt: bannedUntil,
  forgivenUntil: 0,
  strikes: 0,
  lastStrikeAt: clock.now(),
  bans: 1,
  bannedUntil,
});
const isBanned = async () => (await store.peek(request, clock.now())).bannedUntil !== undefined;
const withRedis = { REDIS_URL: 'redis://127.0.0.1:1' };

describe('counters', () => {
  it('are written a last time at the stop, and never after it', async () => {
    const writeBehind = open();
    await writeBehind.onModuleInit();
    await take();
    await writeBehind.onModuleDestroy();
    expect(written()).toEqual([[1]]);
    await take();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written()).toEqual([[1]]);
  });

  it('are kept while they cannot be written, which is told once, as is the end of it', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const log = vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    const writeBehind = open();
    await take();
    await writeBehind.flush();
    expect(log).not.toHaveBeenCalled();
    journal.failure = new Error('disk I/O error');
    for (let failed = 0; failed < 3; failed += 1) {
      await take();
      await writeBehind.flush();
    }
    expect(error.mock.calls).toEqual([
      ['Counters cannot be written; they are kept in memory', journal.failure],
    ]);
    journal.failure = undefined;
    await writeBehind.flush();
    await take();
    await writeBehind.flush();
    expect(written()).toEqual([[1], [3], [1]]);
    expect(log.mock.calls).toEqual([['Counters are written again']]);
    journal.failure = new Error('disk I/O error');
    await take();
    await writeBehind.flush();
    expect(error).toHaveBeenCalledTimes(2);
  });
});

it('what could not be written joins what came since: of a later minute alone, of each day for itself, of a key the latest', async () => {
  const writeBehind = open();
  const later = async (ms: number, times: number) => {
    clock.advance(ms);
    for (let sent = 0; sent < times; sent += 1) await take();
  };
  clock.set('2026-11-20T23:58:00.000Z');
  journal.failure = new Error('disk I/O error');
  vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  await later(0, 2);
  store.unsaved.noteBan('key', banUntil(clock.now() + MINUTE_MS));
  store.unsaved.noteBan('other', banUntil(clock.now() + MINUTE_MS));
  await writeBehind.flush();
  await later(0, 1);
  await writeBehind.flush();
  await later(MINUTE_MS, 4);
  await writeBehind.flush();
  await later(MINUTE_MS, 1);
  store.unsaved.noteBan('key', banUntil(clock.now() + DAY_MS));
  await writeBehind.flush();
  await later(0, 1);
  journal.failure = undefined;
  await writeBehind.flush();
  const [{ counts, bans }] = journal.writings as [
    { counts: readonly CountChange[]; bans: readonly BanChange[] },
  ];
  expect(counts.map(({ inDay, inMinute }) => [inDay, inMinute])).toEqual([
    [7, 4],
    [2, 2],
  ]);
  expect(new Map(bans.map(({ keyId, state }) => [keyId, state.bannedUntil - clock.now()]))).toEqual(
    new Map([
      ['key', DAY_MS],
      ['other', -MINUTE_MS],
    ]),
  );
});

describe('bans', () => {
  it('from before the start are taken up', async () => {
    journal.known.push({ keyId: 'key', state: banUntil(clock.now() + MINUTE_MS) });
    await open().onModuleInit();
    expect(await isBanned()).toBe(true);
  });

  it('are left to Redis where that counts', async () => {
    journal.known.push({ keyId: 'key', state: banUntil(clock.now() + MINUTE_MS) });
    const writeBehind = open(withRedis);
    await writeBehind.onModuleInit();
    expect(await isBanned()).toBe(false);
    journal.lifted.push({ keyId: 'key', at: clock.now() });
    store.restoreBans(journal.known, clock.now());
    await writeBehind.flush();
    expect(await isBanned()).toBe(true);
  });

  it('that another process has lifted end, and are not written back', async () => {
    const state = banUntil(clock.now() + MINUTE_MS);
    store.restoreBans([{ keyId: 'key', state }], clock.now());
    store.unsaved.noteBan('key', state);
    store.unsaved.noteBan('other', state);
    journal.lifted.push({ keyId: 'key', at: clock.now() });
    await open().flush();
    expect(await isBanned()).toBe(false);
    expect(journal.writings.map(({ bans }) => bans.map(({ keyId }) => keyId))).toEqual([['other']]);
  });

  it('that were lifted are not lifted again when the key earns another', async () => {
    const writeBehind = open();
    journal.lifted.push({ keyId: 'key', at: clock.now() });
    await writeBehind.flush();
    const again = { keyId: 'key', state: banUntil(clock.now() + MINUTE_MS) };
    store.restoreBans([again], clock.now());
    await writeBehind.flush();
    expect(await isBanned()).toBe(true);
    journal.lifted.splice(0, 1, { keyId: 'key', at: clock.now() + 1 });
    await writeBehind.flush();
    expect(await isBanned()).toBe(false);
  });
});
