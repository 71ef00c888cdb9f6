import { describe, expect, it } from 'vitest';
import { TestClock } from '../../test/kit/test-clock.js';
import { ApiKey } from './clients/api-key.entity.js';
import { Client } from './clients/client.entity.js';
import { DataVersion, OwnWritesVersion, type Versions } from '../database/data-version.js';
import type { JsonReader } from '../database/database.js';
import { KeyCache } from './key-cache.js';

const keyOf = (revokedAt: string | null, suspendedAt: string | null): ApiKey =>
  Object.assign(new ApiKey(), { revokedAt, client: Object.assign(new Client(), { suspendedAt }) });
const KEY = keyOf(null, null);
const REVOKED = keyOf('2026-11-20T11:00:00.000Z', null);
const SUSPENDED = keyOf(null, '2026-11-20T11:00:00.000Z');

/** A memory beside a database, on a clock that stands still. */
function open<State extends DataVersion>(database: State) {
  const clock = new TestClock('2026-11-20T12:00:00.000Z');
  const cache = new KeyCache(database, {} as JsonReader, clock);
  /** Caches what was read now. */
  const put = (digest: string, key: ApiKey | undefined) => cache.set(digest, key, cache.versions().keys);
  return { clock, database, cache, put };
}

describe.each([
  ['a key', KEY],
  ['that there is no key', undefined],
])('%s', (_, key) => {
  it.each([
    ['at once', 0, true],
    ['until 5 seconds have passed', 5_000, true],
    ['not longer', 5_001, false],
  ])('is cached %s: %d ms', (_when, milliseconds, cached) => {
    const { clock, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    clock.advance(milliseconds);
    expect(cache.get('digest', cache.versions()) !== undefined).toBe(cached);
  });

  it('is cached no longer because the clock was put back', () => {
    const { clock, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    clock.step(-3_600_000);
    clock.advance(5_001);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it('is not cached when something was committed while it was read', () => {
    const { database, cache } = open(new OwnWritesVersion());
    const before = cache.versions().keys;
    database.note();
    cache.set('digest', key, before);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });
});

/** A database of whose commits by other processes this one learns late, or never. */
class Incomplete extends DataVersion {
  version: number | undefined = 0;
  isFromRedis = false;

  override get isComplete(): boolean {
    return false;
  }

  override get isShared(): boolean {
    return this.isFromRedis;
  }

  versions(): Versions {
    const { version } = this;
    return { responses: version, rows: version, keys: version };
  }
}

describe('where others may commit unseen', () => {
  it.each([
    ['no key', undefined],
    ['a revoked key', REVOKED],
    ['the key of a suspended client', SUSPENDED],
  ])('%s is not cached: what lets it in must count at once', (_, key) => {
    const { cache, put } = open(new Incomplete());
    put('digest', key);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it.each([
    [2_000, true],
    [2_001, false],
  ])('a key is used for at most 2 seconds: %d ms', (milliseconds, cached) => {
    const { clock, database, cache, put } = open(new Incomplete());
    database.version = undefined;
    put('digest', KEY);
    clock.advance(milliseconds);
    expect(cache.get('digest', cache.versions()) !== undefined).toBe(cached);
  });

  it('a key is not taken from the cache while Redis has no name of the state', () => {
    const { database, cache, put } = open(new Incomplete());
    database.isFromRedis = true;
    put('digest', KEY);
    expect(cache.get('digest', cache.versions())).toMatchObject({ key: KEY });
    database.version = undefined;
    put('digest', KEY);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });
});

describe.each([
  ['keys', KEY, 10_000],
  ['digests of no key', undefined, 1_000],
])('of %s', (_, key, most) => {
  const full = () => {
    const opened = open(new OwnWritesVersion());
    for (let read = 0; read < most; read += 1) opened.put(`digest ${read}`, key);
    return opened;
  };

  it('only so many are cached, and the one that was not asked for the longest is evicted first', () => {
    const { cache, put } = full();
    expect(cache.get('digest 0', cache.versions())).toBeDefined();
    put('one more', key);
    expect(cache.get('digest 1', cache.versions())).toBeUndefined();
    for (const digest of ['digest 0', `digest ${most - 1}`, 'one more'])
      expect(cache.get(digest, cache.versions())).toBeDefined();
  });

  it('others have room of their own: a flood of the one kind evicts none of the other', () => {
    const { cache, put } = open(new OwnWritesVersion());
    put('of the other kind', key ? undefined : KEY);
    for (let read = 0; read <= most; read += 1) put(`digest ${read}`, key);
    expect(cache.get('of the other kind', cache.versions())).toBeDefined();
  });
});
