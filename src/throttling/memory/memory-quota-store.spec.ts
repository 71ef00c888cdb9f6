import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { BAN_RULES, neverRefused } from '../bans.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal, type BanChange, type CountChange, type DayCount } from './quota-journal.js';

const NOW = Date.parse('2026-11-20T12:00:30.000Z');
const THIS_MINUTE = Math.floor(NOW / MINUTE_MS) * MINUTE_MS;
const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;

/** A journal that has the same for everybody, and answers when it is told to. */
class HeldJournal extends QuotaJournal {
  /** What was asked for, as `key minute day`. */
  readonly asked: string[] = [];
  private held: (() => void)[] = [];

  constructor(private readonly has: { minute: number; day: number }) {
    super();
  }

  async used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }> {
    this.asked.push(`${key} ${minuteStart} ${dayStart}`);
    await new Promise<void>((resolve) => this.held.push(resolve));
    return this.has;
  }

  /** Answers everything that was asked for so far. */
  answer(): void {
    for (const resolve of this.held.splice(0)) resolve();
  }

  lift(): Promise<void> {
    return Promise.resolve();
  }

  days(): Promise<DayCount[]> {
    return Promise.resolve([]);
  }

  bans(): Promise<BanChange[]> {
    return Promise.resolve([]);
  }

  liftedSince(): Promise<never[]> {
    return Promise.resolve([]);
  }

  write(_counts: readonly CountChange[], _bans: readonly BanChange[]): Promise<void> {
    return Promise.resolve();
  }
}

const minute = (key: string, limit = 60) => ({ key, name: 'minute', limit, lengthMs: MINUTE_MS });
const day = (key: string, limit = 1_000) => ({ key, name: 'day', limit, lengthMs: DAY_MS });
const ofClient = (subject: string, perMinute?: number, perDay?: number): QuotaRequest => ({
  subject,
  isClient: true,
  keyId: `key of ${subject}`,
  windows: [minute(subject, perMinute), day(subject, perDay)],
});
const ofAddress: QuotaRequest = { subject: 'address:1', isClient: false, windows: [minute('address:1')] };

const usedOf = ({ windows }: QuotaVerdict) => windows.map(({ used }) => used);

/** A store before a journal that has counted 3 in the minute and 7 in the day of everybody. */
function afterRestart() {
  const journal = new HeldJournal({ minute: 3, day: 7 });
  const store = new MemoryQuotaStore(new SystemClock(), journal);
  return { journal, store };
}

describe('after a restart', () => {
  it('a client goes on from what the journal has, which is asked for once a day', async () => {
    const { journal, store } = afterRestart();
    const first = store.take(ofClient('A'), NOW);
    journal.answer();
    expect(usedOf(await first)).toEqual([4, 8]);
    expect(usedOf(await store.take(ofClient('A'), NOW + MINUTE_MS))).toEqual([1, 9]);
    expect(journal.asked).toEqual([`A ${THIS_MINUTE} ${TODAY}`]);
    const tomorrow = store.take(ofClient('A'), NOW + DAY_MS);
    journal.answer();
    await tomorrow;
    expect(journal.asked).toHaveLength(2);
  });

  it('requests that come together wait for one reading, each client for its own', async () => {
    const { journal, store } = afterRestart();
    const take = async (client: string) => store.take(ofClient(client), NOW);
    const together = ['A', 'A', 'B'].map(take);
    journal.answer();
    expect((await Promise.all(together)).map(usedOf)).toEqual([
      [4, 8],
      [5, 9],
      [4, 8],
    ]);
    expect(journal.asked).toHaveLength(2);
  });

  it('a reading that failed is told to who waited for it, and made again for the next', async () => {
    const { journal, store } = afterRestart();
    const used = journal.used.bind(journal);
    journal.used = () => Promise.reject(new Error('away'));
    await expect(store.take(ofClient('A'), NOW)).rejects.toThrow('away');
    journal.used = used;
    const again = store.take(ofClient('A'), NOW);
    journal.answer();
    expect(usedOf(await again)).toEqual([4, 8]);
  });

  it('what the journal has of a minute that ended while it was read does not count in the next', async () => {
    const { journal, store } = afterRestart();
    const slow = store.take(ofClient('A'), THIS_MINUTE + MINUTE_MS - 1);
    void store.take(ofClient('B'), THIS_MINUTE + MINUTE_MS);
    journal.answer();
    expect(usedOf(await slow)).toEqual([1, 8]);
  });

  it('what it has of a day that ended meanwhile does not count in the next, which is asked for by itself', async () => {
    const { journal, store } = afterRestart();
    const slow = store.take(ofClient('A'), TODAY + DAY_MS - 1);
    void store.take(ofClient('B'), TODAY + DAY_MS);
    journal.answer();
    await expect.poll(() => journal.asked.at(-1)).toBe(`A ${TODAY + DAY_MS} ${TODAY + DAY_MS}`);
    journal.answer();
    expect(usedOf(await slow)).toEqual([4, 8]);
  });
});

describe('what is to be written to the journal', () => {
  const bring = async (store: MemoryQuotaStore, journal: HeldJournal, ...requests: QuotaRequest[]) => {
    for (const request of requests) {
      const verdict = store.take(request, NOW);
      journal.answer();
      await verdict;
    }
    return store.unsaved.drain();
  };

  it('is what was admitted, once a request, and not what the journal had', async () => {
    const { journal, store } = afterRestart();
    const { counts, bans } = await bring(store, journal, ofClient('A'), ofClient('A'), ofClient('B'));
    expect(counts).toEqual([
      { key: 'A', minuteStart: THIS_MINUTE, inMinute: 2, dayStart: TODAY, inDay: 2 },
      { key: 'B', minuteStart: THIS_MINUTE, inMinute: 1, dayStart: TODAY, inDay: 1 },
    ]);
    expect(bans).toEqual([]);
  });

  it('is the state of a key that was refused, and no count', async () => {
    const { journal, store } = afterRestart();
    const { counts, bans } = await bring(store, journal, ofClient('A', 3));
    expect(counts).toEqual([]);
    expect(bans).toEqual([
      {
        keyId: 'key of A',
        state: {
          ...neverRefused(),
          retryAt: THIS_MINUTE + MINUTE_MS,
          forgivenUntil: NOW + BAN_RULES.forgivenMs,
        },
      },
    ]);
  });

  it('is nothing of addresses, and nothing without a journal', async () => {
    const { journal, store } = afterRestart();
    expect(await bring(store, journal, ofAddress)).toEqual({ counts: [], bans: [] });
    const alone = new MemoryQuotaStore(new SystemClock());
    expect(await bring(alone, journal, ofClient('A', 1), ofClient('A', 1))).toEqual({ counts: [], bans: [] });
  });
});

describe('a clock that was put back', () => {
  const counted = async (by: number) => {
    const { journal, store } = afterRestart();
    const first = store.take(ofClient('A'), NOW);
    journal.answer();
    await first;
    const verdict = store.take(ofClient('A'), NOW - by);
    journal.answer();
    return { journal, used: usedOf(await verdict) };
  };

  it('by a day takes the minute along, and asks for the other day', async () => {
    const { journal, used } = await counted(DAY_MS);
    expect(journal.asked.at(-1)).toBe(`A ${THIS_MINUTE - DAY_MS} ${TODAY - DAY_MS}`);
    expect(used[1]).toBe(8);
  });

  it('takes the windows of an address along', () => {
    const store = new MemoryQuotaStore(new SystemClock());
    void store.take(ofAddress, NOW);
    expect(usedOf(store.take(ofAddress, NOW - 3_600_000) as QuotaVerdict)).toEqual([2]);
  });

  it.each<[string, MemoryQuotaStore, number]>([
    ['which is written', new MemoryQuotaStore(new SystemClock(), new HeldJournal({ minute: 0, day: 0 })), 1],
    ['which nobody writes without a journal', new MemoryQuotaStore(new SystemClock()), 0],
  ])('bans for no longer than the whole ban from then on, %s', (_, store, written) => {
    const until = NOW + 5 * MINUTE_MS;
    const state = { ...neverRefused(), retryAt: until, lastStrikeAt: until, bans: 1, bannedUntil: until };
    store.restoreBans([{ keyId: 'key of A', state }], NOW);
    const request = { ...ofClient('A'), windows: [minute('A')] };
    const held = until - DAY_MS;
    expect(store.take(request, NOW - DAY_MS)).toMatchObject({ admitted: false, bannedUntil: held });
    expect(store.take(request, held - 1)).toMatchObject({ admitted: false, bannedUntil: held });
    expect(store.take(request, held)).toMatchObject({ admitted: true });
    const { bans } = store.unsaved.drain();
    expect(bans.map((change) => [change.keyId, change.state.bannedUntil])).toEqual(
      Array.from({ length: written }, () => ['key of A', held]),
    );
  });
});
