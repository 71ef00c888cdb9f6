import { JsonText } from '../../database/json-rows.js';
import { SystemClock } from '../../core/time/clock.js';
import { describe, expect, it, vi } from 'vitest';
import { DataVersion, OwnWritesVersion, type Versions } from '../../database/data-version.js';
import { type CachedResult, ResponseCache } from './response-cache.js';

const answer = (text: string, isCacheable = true): CachedResult => ({
  body: new JsonText(text),
  isCacheable,
  outlastsNewRows: false,
});

const textOf = ({ body }: CachedResult) => (body as JsonText).text;

/** Versions that a test raises. */
class CountedVersion extends DataVersion {
  responses = 0;
  rows = 0;

  versions(): Versions {
    return { responses: this.responses, rows: this.rows };
  }
}

/** An operation whose response the test releases. */
function pending() {
  let resolve!: (found: CachedResult) => void;
  const promise = new Promise<CachedResult>((settle) => (resolve = settle));
  return { operation: vi.fn<() => Promise<CachedResult>>(() => promise), resolve };
}

describe('an answer', () => {
  it.each([
    ['many small ones', 80_000, 1],
    ['few large ones', 20, 1_048_576],
  ])(
    'is evicted when %s take too much memory, the one that was not asked for the longest first',
    async (_, count, characters) => {
      const memory = new ResponseCache(new OwnWritesVersion(), new SystemClock());
      const operation = vi.fn<(body: string) => Promise<CachedResult>>((body) =>
        Promise.resolve(answer(body)),
      );
      const ask = (index: number) => memory.answer(`/${index}`, () => operation('x'.repeat(characters)));
      for (let index = 0; index < count; index += 1) {
        await ask(index);
        await ask(0);
      }
      operation.mockClear();
      await ask(0);
      await ask(count - 1);
      expect(operation).not.toHaveBeenCalled();
      await ask(1);
      expect(operation).toHaveBeenCalledOnce();
    },
  );

  it.each<[outlastsNewRows: boolean, commits: readonly ('responses' | 'rows')[], kept: string]>([
    [false, [], 'first'],
    [false, ['responses'], 'second'],
    [true, ['responses'], 'first'],
    [true, ['responses', 'rows'], 'second'],
  ])('that outlasts new rows: %o, is read while %o change; the next request gets the %s', async (...row) => {
    const [outlastsNewRows, commits, expected] = row;
    const version = new CountedVersion();
    const memory = new ResponseCache(version, new SystemClock());
    const { operation, resolve } = pending();
    const first = memory.answer('/a', operation);
    for (const kind of commits) version[kind] += 1;
    resolve({ ...answer('first'), outlastsNewRows });
    expect(textOf(await first)).toBe('first');
    const second = await memory.answer('/a', () => Promise.resolve(answer('second')));
    expect(textOf(second)).toBe(expected);
  });
});

describe('requests that ask the same at the same time', () => {
  it('do not share one that began before a commit that the later must see', async () => {
    const version = new OwnWritesVersion();
    const memory = new ResponseCache(version, new SystemClock());
    const { operation, resolve } = pending();
    const before = memory.answer('/a', operation);
    version.note();
    const after = memory.answer('/a', () => Promise.resolve(answer('new')));
    resolve(answer('old'));
    expect([textOf(await before), textOf(await after)]).toEqual(['old', 'new']);
  });

  it('do not share what is not to be cached', async () => {
    const memory = new ResponseCache(new OwnWritesVersion(), new SystemClock());
    const untagged = pending();
    const third = memory.answer('/b', untagged.operation);
    const fourth = memory.answer('/b', () => Promise.resolve(answer('own')));
    untagged.resolve({ ...answer('other'), isCacheable: false });
    expect([textOf(await third), textOf(await fourth)]).toEqual(['other', 'own']);
  });
});
