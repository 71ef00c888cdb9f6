import { Logger } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { type ServiceParts, openParts } from '../../../test/support/service-parts.js';
import { type BanState, neverRefused } from '../bans.js';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { QuotaJournal } from './quota-journal.js';

const NOW = Date.parse('2026-11-20T12:00:30.000Z');
const THIS_MINUTE = Math.floor(NOW / MINUTE_MS) * MINUTE_MS;
const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;

const ofClient = (client: string | number, perMinute = 1_000): QuotaRequest => ({
  subject: `client:${client}`,
  isClient: true,
  keyId: `key-${client}`,
  windows: [
    { key: `client:${client}`, name: 'minute', limit: perMinute, lengthMs: MINUTE_MS },
    { key: `client:${client}`, name: 'day', limit: 10_000, lengthMs: DAY_MS },
  ],
});
const usedOf = ({ windows }: QuotaVerdict) => windows.map(({ used }) => used);
const banUntil = (until: number): BanState => ({
  ...neverRefused(),
  retryAt: until,
  lastStrikeAt: until,
  bans: 1,
  bannedUntil: until,
});
const bansOf = ({ dataSource }: ServiceParts) =>
  dataSource.query<Record<string, unknown>[]>('SELECT * FROM key_bans ORDER BY key_id');

/** Another process on the same database, or the same one after a restart. */
function processOn({ dataSource, reader, cacheNeutralWrites, clock, sweeper }: ServiceParts) {
  const journal = new QuotaJournal(dataSource, reader, cacheNeutralWrites, clock, sweeper);
  const store = new MemoryQuotaStore(clock, journal);
  const take = async (client: string | number, at = NOW, perMinute?: number) =>
    store.take(ofClient(client, perMinute), at);
  const isBanned = async (client: string, at = clock.now()) =>
    (await store.peek(ofClient(client), at)).bannedUntil !== undefined;
  return { journal, store, take, isBanned };
}

async function open() {
  const parts = await openParts();
  parts.clock.set(new Date(NOW).toISOString());
  return { parts, ...processOn(parts), restarted: () => processOn(parts) };
}

/** A process that starts after another one has counted 3 requests of the clients a and b, 7 of them in the day. */
async function afterRestart() {
  const { parts, take, journal } = await open();
  for (let sent = 0; sent < 7; sent += 1)
    for (const client of ['a', 'b']) await take(client, sent < 4 ? NOW - MINUTE_MS : NOW);
  await journal.flush();
  return processOn(parts);
}

describe('after a restart', () => {
  it('a client goes on from what was written, also where its requests come together', async () => {
    const { take } = await afterRestart();
    expect((await Promise.all([take('a'), take('a'), take('b')])).map(usedOf)).toEqual([
      [4, 8],
      [5, 9],
      [4, 8],
    ]);
    expect(usedOf(await take('a', NOW + MINUTE_MS))).toEqual([1, 10]);
    expect(usedOf(await take('a', NOW + DAY_MS))).toEqual([1, 1]);
  });

  it('a reading that failed is told to who waited for it, and made again for the next', async () => {
    const { take, journal } = await afterRestart();
    const broken = vi.spyOn(journal, 'used').mockRejectedValue(new Error('away'));
    await expect(take('a')).rejects.toThrow('away');
    broken.mockRestore();
    expect(usedOf(await take('a'))).toEqual([4, 8]);
  });

  it.each([
    ['minute', THIS_MINUTE + MINUTE_MS, [1, 8]],
    ['day', TODAY + DAY_MS, [1, 1]],
  ])(
    'what was written of a %s that ended while it was read does not count in the next',
    async (_, end, used) => {
      const { take } = await afterRestart();
      const slow = take('a', end - 1);
      void take('c', end);
      expect(usedOf(await slow)).toEqual(used);
    },
  );

  it('a day that the clock is set back to has what was written of it', async () => {
    const { take } = await afterRestart();
    await take('a', NOW + DAY_MS);
    expect(usedOf(await take('a'))[1]).toBe(8);
  });
});

describe('what is written', () => {
  it('is what two processes count together, in the minute and the day', async () => {
    const { take, journal, restarted } = await open();
    const other = restarted();
    for (let sent = 0; sent < 5; sent += 1) await take('a');
    for (let sent = 0; sent < 7; sent += 1) await other.take('a');
    await Promise.all([journal.flush(), other.journal.flush()]);
    expect(await journal.used('client:a', THIS_MINUTE, TODAY)).toEqual({ minute: 12, day: 12 });
    await take('a', NOW + MINUTE_MS);
    await journal.flush();
    expect(await journal.used('client:a', THIS_MINUTE + MINUTE_MS, TODAY)).toEqual({ minute: 1, day: 13 });
    expect(await journal.used('client:a', THIS_MINUTE, TODAY)).toEqual({ minute: 0, day: 13 });
  });

  it('is nothing of addresses', async () => {
    const { store, journal, parts } = await open();
    const windows = [{ key: 'address:1', name: 'minute', limit: 1, lengthMs: MINUTE_MS }];
    for (let sent = 0; sent < 3; sent += 1)
      await store.take({ subject: 'address:1', isClient: false, windows }, NOW);
    await journal.flush();
    expect(await parts.dataSource.query('SELECT * FROM quota_minutes')).toEqual([]);
    expect(await bansOf(parts)).toEqual([]);
  });

  it('is of 2,000 clients and their bans at once', async () => {
    const { take, journal, restarted, parts } = await open();
    for (let client = 0; client < 2_000; client += 1) {
      await take(client);
      journal.noteBan(`key-${client}`, { ...neverRefused(), strikes: client });
    }
    await journal.flush();
    expect(usedOf(await restarted().take(1_999))).toEqual([2, 2]);
    const kept = await bansOf(parts);
    expect(kept).toHaveLength(2_000);
    expect(kept.every(({ key_id: id, strikes }) => id === `key-${String(strikes)}`)).toBe(true);
  });

  it('is whole or not at all; what could not be written joins what came since, and the log has it once', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const log = vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    const { take, journal, parts } = await open();
    const rename = (from: string, to: string) =>
      parts.dataSource.query(`ALTER TABLE ${from} RENAME TO ${to}`);
    const midnight = TODAY + DAY_MS;
    const sendAt = async (at: number, times: number) => {
      for (let sent = 0; sent < times; sent += 1) await take('a', at);
      await journal.flush();
    };
    journal.noteBan('key', banUntil(NOW + MINUTE_MS));
    journal.noteBan('other', banUntil(NOW + MINUTE_MS));
    // The last statement of a writing fails: the others are rolled back.
    await rename('key_bans', 'away');
    await sendAt(midnight - 2 * MINUTE_MS, 2);
    await sendAt(midnight - MINUTE_MS, 4);
    await sendAt(midnight, 3);
    expect(await journal.days(['client:a'], TODAY)).toEqual([]);
    expect(error).toHaveBeenCalledOnce();
    expect(log).not.toHaveBeenCalled();
    await rename('away', 'key_bans');
    journal.noteBan('key', banUntil(NOW + DAY_MS));
    await sendAt(midnight, 1);
    await sendAt(midnight, 0);
    expect(log.mock.calls).toEqual([['Counters are written again']]);
    expect(await journal.days(['client:a'], TODAY)).toEqual([
      { key: 'client:a', start: TODAY, used: 6 },
      { key: 'client:a', start: midnight, used: 4 },
    ]);
    expect(await journal.used('client:a', midnight, midnight)).toEqual({ minute: 4, day: 4 });
    expect((await bansOf(parts)).map((row) => [row['key_id'], row['banned_until']])).toEqual([
      ['key', NOW + DAY_MS],
      ['other', NOW + MINUTE_MS],
    ]);
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
    const { journal, restarted } = await open();
    journal.noteBan('key', { ...neverRefused(), ...state });
    await journal.flush();
    const next = restarted();
    const restored = vi.spyOn(next.store, 'restoreBans');
    await next.journal.restore();
    expect(restored.mock.calls[0]?.[0]).toHaveLength(isTaken ? 1 : 0);
  });

  it('outlive a restart with their strikes and their ladder', async () => {
    const { take, journal, restarted, parts } = await open();
    const refuse = async (by: typeof take, seconds: readonly number[]) => {
      for (const second of seconds) await by('a', NOW + second * 1_000, 1);
    };
    const seconds = (from: number, to: number) => Array.from({ length: to - from }, (__, at) => from + at);
    await refuse(take, [0, 0, ...seconds(3, 13)]);
    await journal.flush();
    parts.clock.set(new Date(NOW + 12_500).toISOString());
    const second = restarted();
    await second.journal.restore();
    await second.take('a', NOW + 12_500);
    await refuse(second.take, seconds(13, 23));
    const bannedUntil = NOW + 22_000 + 5 * MINUTE_MS;
    expect((await second.take('a', NOW + 23_000)).bannedUntil).toBe(bannedUntil);
    await second.journal.flush();
    parts.clock.set(new Date(NOW + 24_000).toISOString());
    const third = restarted();
    await third.journal.restore();
    expect((await third.take('a', NOW + 24_000)).bannedUntil).toBe(bannedUntil);
  });

  it('that another process has lifted end, are not written back, and can be earned again', async () => {
    const { store, journal, restarted, isBanned, parts } = await open();
    const ban = { keyId: 'key-a', state: banUntil(NOW + MINUTE_MS) };
    store.restoreBans([ban], NOW);
    journal.noteBan('key-a', ban.state);
    await restarted().store.unban('key-a', 'client:a', NOW);
    await journal.flush();
    expect(await isBanned('a')).toBe(false);
    expect(await bansOf(parts)).toMatchObject([{ key_id: 'key-a', banned_until: 0, lifted_at: NOW }]);
    store.restoreBans([ban], NOW);
    await journal.flush();
    expect(await isBanned('a')).toBe(true);
    await restarted().store.unban('key-a', 'client:a', NOW + 1);
    await journal.flush();
    expect(await isBanned('a')).toBe(false);
  });

  it('last no longer than the whole ban when the clock is put back', async () => {
    const { store, take, journal, parts } = await open();
    const until = NOW + 5 * MINUTE_MS;
    store.restoreBans([{ keyId: 'key-a', state: banUntil(until) }], NOW);
    const held = until - DAY_MS;
    expect(await take('a', NOW - DAY_MS)).toMatchObject({ admitted: false, bannedUntil: held });
    expect(await take('a', held - 1)).toMatchObject({ admitted: false, bannedUntil: held });
    expect(await take('a', held)).toMatchObject({ admitted: true });
    await journal.flush();
    expect(await bansOf(parts)).toMatchObject([{ key_id: 'key-a', banned_until: held }]);
  });

  it.each([
    ['ban', 'banned_until'],
    ['wait', 'retry_at'],
    ['last strike', 'last_strike_at'],
    ['lifting', 'lifted_at'],
  ])('whose %s is more than a day ahead, by a wrong clock, are cut to a day', async (_, column) => {
    const { journal, parts } = await open();
    const soon = NOW + 1_000;
    journal.noteBan('key', { ...banUntil(soon), lastStrikeAt: NOW });
    await journal.flush();
    const setTo = (instant: number) => parts.dataSource.query(`UPDATE key_bans SET ${column} = ${instant}`);
    await setTo(NOW + DAY_MS);
    await parts.sweeper.sweep();
    expect(await bansOf(parts)).toMatchObject([{ [column]: NOW + DAY_MS }]);
    await setTo(NOW + DAY_MS + 1);
    await parts.sweeper.sweep();
    const bannedUntil = column === 'banned_until' ? NOW + DAY_MS : soon;
    expect(await bansOf(parts)).toMatchObject([
      { banned_until: bannedUntil, retry_at: NOW, last_strike_at: NOW, lifted_at: 0 },
    ]);
  });
});
