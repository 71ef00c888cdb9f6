import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TestClock } from '../../test/kit/test-clock.js';
import { ApiKey } from './clients/api-key.entity.js';
import { Client } from './clients/client.entity.js';
import { DataVersion, OwnWritesVersion, type Versions } from '../database/data-version.js';
import { KeyCache } from './key-cache.js';

const keyOf = (revokedAt: string | null, suspendedAt: string | null): ApiKey =>
  Object.assign(new ApiKey(), { revokedAt, client: Object.assign(new Client(), { suspendedAt }) });
const KEY = keyOf(null, null);
const REVOKED = keyOf('2026-11-20T11:00:00.000Z', null);
const SUSPENDED = keyOf(null, '2026-11-20T11:00:00.000Z');

/** A database to which answers are added all the time, and no key. */
class NewAnswers extends DataVersion {
  private answers = 0;

  versions(): Versions {
    this.answers += 1;
    return { responses: this.answers, rows: this.answers, keys: 0 };
  }
}

/** A memory beside a database, on a clock that stands still. */
function open<State extends DataVersion>(database: State) {
  const clock = new TestClock('2026-11-20T12:00:00.000Z');
  const cache = new KeyCache(database, clock);
  /** Caches what was read now. */
  const put = (digest: string, key: ApiKey | undefined) => cache.set(digest, key, cache.version());
  return { clock, database, cache, put };
}

describe.each([
  ['a key', KEY],
  ['that there is no key', undefined],
])('%s', (_, key) => {
  it('is cached for its digest alone', () => {
    const { cache, put } = open(new OwnWritesVersion());
    expect(cache.get('digest', cache.versions())).toBeUndefined();
    put('digest', key);
    expect(cache.get('digest', cache.versions())).toMatchObject({ key });
    expect(cache.get('other', cache.versions())).toBeUndefined();
  });

  it.each([
    ['at once', 0, true],
    ['just before 5 seconds', 4_999, true],
    ['from 5 seconds on', 5_000, false],
  ])('is cached %s: %d ms', (_when, milliseconds, cached) => {
    const { clock, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    clock.advance(milliseconds);
    expect(cache.get('digest', cache.versions()) !== undefined).toBe(cached);
  });

  it('leaves memory once it is too old, although nobody asks for it again', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { clock, cache, put } = open(new OwnWritesVersion());
    const pass = (milliseconds: number) => {
      clock.advance(milliseconds);
      vi.advanceTimersByTime(milliseconds);
    };
    put('digest', key);
    pass(3_000);
    put('later', key);
    pass(2_000);
    expect(cache.size).toBe(1);
    expect(cache.get('later', cache.versions())).toMatchObject({ key });
    pass(5_000);
    expect(cache.size).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    put('digest', key);
    pass(10_000);
    expect(cache.size).toBe(0);
  });

  it('is cached no longer because the clock was put back', () => {
    const { clock, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    clock.advance(-3_600_000);
    clock.advance(5_000);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it('is cached until something is committed', () => {
    const { database, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    database.note();
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it('is cached while commits change answers alone', () => {
    const { cache, put } = open(new NewAnswers());
    put('digest', key);
    expect(cache.get('digest', cache.versions())).toMatchObject({ key });
  });

  it('is not cached when something was committed while it was read', () => {
    const { database, cache } = open(new OwnWritesVersion());
    const before = cache.version();
    database.note();
    cache.set('digest', key, before);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it('is cached for 5 seconds from when it was read the last time', () => {
    const { clock, cache, put } = open(new OwnWritesVersion());
    put('digest', key);
    clock.advance(4_999);
    put('digest', key);
    clock.advance(4_999);
    expect(cache.get('digest', cache.versions())).toMatchObject({ key });
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
  it('a key is cached for 5 seconds', () => {
    const { clock, cache, put } = open(new Incomplete());
    put('digest', KEY);
    clock.advance(4_999);
    expect(cache.get('digest', cache.versions())).toMatchObject({ key: KEY });
    clock.advance(1);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
  });

  it.each([
    ['no key', undefined],
    ['a revoked key', REVOKED],
    ['the key of a suspended client', SUSPENDED],
  ])('%s is not cached: what lets it in must count at once', (_, key) => {
    const { cache, put } = open(new Incomplete());
    put('digest', key);
    expect(cache.get('digest', cache.versions())).toBeUndefined();
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

  it('only so many are cached, and the first one is evicted first', () => {
    const { cache, put } = full();
    expect(cache.get('digest 0', cache.versions())).toBeDefined();
    put('one more', key);
    expect(cache.get('digest 0', cache.versions())).toBeUndefined();
    for (const digest of ['digest 1', `digest ${most - 1}`, 'one more'])
      expect(cache.get(digest, cache.versions())).toBeDefined();
  });

  it('one that is read again is no further one, and the last to be evicted', () => {
    const { cache, put } = full();
    put('digest 0', key);
    expect(cache.get('digest 1', cache.versions())).toBeDefined();
    put('one more', key);
    expect(cache.get('digest 0', cache.versions())).toBeDefined();
    expect(cache.get('digest 1', cache.versions())).toBeUndefined();
  });

  it('those that are void make room: as many more are cached in the next state', () => {
    const { database, cache, put } = full();
    database.note();
    for (let read = 0; read < most; read += 1) cache.get(`digest ${read}`, cache.versions());
    put('first of the new state', key);
    for (let read = 1; read < most; read += 1) put(`new ${read}`, key);
    expect(cache.get('first of the new state', cache.versions())).toBeDefined();
  });

  it('others have room of their own: a flood of the one kind evicts none of the other', () => {
    const { cache, put } = open(new OwnWritesVersion());
    put('of the other kind', key ? undefined : KEY);
    for (let read = 0; read <= most; read += 1) put(`digest ${read}`, key);
    expect(cache.get('of the other kind', cache.versions())).toBeDefined();
  });
});

it('a digest of which there was no key, and then one, has the key', () => {
  const { database, cache, put } = open(new OwnWritesVersion());
  put('digest', undefined);
  database.note();
  put('digest', KEY);
  expect(cache.get('digest', cache.versions())?.key).toBe(KEY);
});

it('a digest of which there was a key, and then none, has none', () => {
  const { database, cache, put } = open(new OwnWritesVersion());
  put('digest', KEY);
  database.note();
  expect(cache.get('digest', cache.versions())).toBeUndefined();
  put('digest', undefined);
  expect(cache.get('digest', cache.versions())).toMatchObject({ key: undefined });
});
