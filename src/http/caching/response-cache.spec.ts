import type { Response } from 'express';
import { describe, expect, it, vi } from 'vitest';
import { exampleEnvironment } from '../../core/config/define-settings.js';
import { Settings } from '../../core/config/settings.js';
import { SystemClock } from '../../core/time/clock.js';
import { DataVersion, OwnWritesVersion, type Versions } from '../../database/data-version.js';
import { JsonText } from '../../database/json-rows.js';
import { ResponseCache } from './response-cache.js';

/** A response to a request for a target, with the members that the cache uses. */
function responseTo(originalUrl: string): Response {
  const headers: Record<string, string> = {};
  return {
    req: { originalUrl },
    statusCode: 200,
    getHeaders: () => ({ ...headers }),
    getHeaderNames: () => Object.keys(headers),
    getHeader: (name: string) => headers[name],
    setHeader: (name: string, value: string) => Object.assign(headers, { [name.toLowerCase()]: value }),
  } as unknown as Response;
}

const settings = new Settings({ ...exampleEnvironment(), RESPONSE_CACHE_MIB: '16' });

/** A cache, and a function that requests a target with the handler to run. */
function cacheOf(version: DataVersion) {
  const cache = new ResponseCache(version, new SystemClock(), settings);
  const request = async (target: string, handler: () => unknown, rowsOnly = false) => {
    const result = await cache.wrap(responseTo(target), version.versions(), handler, rowsOnly);
    return result instanceof JsonText ? result.text : result;
  };
  return { cache, request };
}

/** Versions that a test increments. */
class CountedVersion extends DataVersion {
  responses = 0;
  rows = 0;

  versions(): Versions {
    return { responses: this.responses, rows: this.rows };
  }
}

/** A handler whose result the test releases. */
function pending() {
  let resolve!: (result: unknown) => void;
  const promise = new Promise<unknown>((settle) => (resolve = settle));
  return { handler: () => promise, resolve };
}

describe('a response', () => {
  it.each([
    ['many small ones', 80_000, 1],
    ['few large ones', 20, 1_048_576],
  ])(
    'is evicted when %s take too much memory, the least recently requested first',
    async (_, count, characters) => {
      const { request } = cacheOf(new OwnWritesVersion());
      const handler = vi.fn<() => JsonText>(() => new JsonText('x'.repeat(characters)));
      for (let index = 0; index < count; index += 1) {
        await request(`/${index}`, handler);
        await request('/0', handler);
      }
      handler.mockClear();
      await request('/0', handler);
      await request(`/${count - 1}`, handler);
      expect(handler).not.toHaveBeenCalled();
      await request('/1', handler);
      expect(handler).toHaveBeenCalledOnce();
    },
  );

  it.each<[survivesInserts: boolean, commits: readonly ('responses' | 'rows')[], cached: string]>([
    [false, [], 'first'],
    [false, ['responses'], 'second'],
    [true, ['responses'], 'first'],
    [true, ['responses', 'rows'], 'second'],
  ])('that survives inserts: %o, is read while %o change; the next request gets the %s', async (...row) => {
    const [survivesInserts, commits, expected] = row;
    const version = new CountedVersion();
    const { request } = cacheOf(version);
    const { handler, resolve } = pending();
    const first = request('/a', handler, true);
    for (const kind of commits) version[kind] += 1;
    resolve(new JsonText('first', survivesInserts));
    expect(await first).toBe('first');
    expect(await request('/a', () => new JsonText('second'))).toBe(expected);
  });

  it('has the Link that the handler has set, in every response', async () => {
    const version = new OwnWritesVersion();
    const { cache } = cacheOf(version);
    const [read, shared, found] = [responseTo('/a'), responseTo('/a'), responseTo('/a')];
    const handler = () => {
      read.setHeader('Link', '</b>; rel="next"');
      return Promise.resolve(new JsonText('[]'));
    };
    await Promise.all([read, shared].map((one) => cache.wrap(one, version.versions(), handler, false)));
    expect(cache.find(found, version.versions())?.text).toBe('[]');
    for (const one of [read, shared, found]) expect(one.getHeader('link')).toBe('</b>; rel="next"');
    expect(cache.use).toEqual({ hits: 2, misses: 1 });
  });
});

describe('requests of one target at the same time', () => {
  it('do not share one that started before a commit that the later one must see', async () => {
    const version = new OwnWritesVersion();
    const { request } = cacheOf(version);
    const { handler, resolve } = pending();
    const before = request('/a', handler);
    version.note();
    const after = request('/a', () => new JsonText('new'));
    resolve(new JsonText('old'));
    expect([await before, await after]).toEqual(['old', 'new']);
  });

  it('do not share what is not to be cached', async () => {
    const { request } = cacheOf(new OwnWritesVersion());
    const { handler, resolve } = pending();
    const third = request('/b', handler);
    const fourth = request('/b', () => new JsonText('own'));
    resolve('other');
    expect([await third, await fourth]).toEqual(['other', 'own']);
  });
});
