import { rm, writeFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { emptyFolder } from '../../../test/support/service-process.js';
import { ALL_CACHED, type CachedKind } from '../data-version.js';
import type { DatabaseFiles } from './availability/database-files.js';
import { WalDataVersion } from './wal-data-version.js';

/** Contents of an index: the counter of each copy of the header, and some other field of both. */
interface Header {
  readonly counter: number;
  readonly second?: number;
  readonly mark?: number;
}

function bytesOf({ counter, second = counter, mark = 0 }: Header): Buffer {
  const bytes = Buffer.alloc(136);
  for (const [copy, value] of [counter, second].entries()) {
    const at = copy * 48;
    if (endianness() === 'LE') bytes.writeUInt32LE(value, at + 8);
    else bytes.writeUInt32BE(value, at + 8);
    bytes.writeUInt8(mark, at + 16);
  }
  return bytes;
}

/** A version of a file whose WAL index the test writes in place of SQLite; its counter is 7. */
async function open() {
  const folder = await emptyFolder();
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'a.sqlite-shm');
  const writeHeader = (header: Header) => writeFile(path, bytesOf(header));
  await writeHeader({ counter: 7 });
  const version = new WalDataVersion({ error: undefined } as unknown as DatabaseFiles);
  version.watch(path);
  const current = () => ALL_CACHED.map((kind) => version.versions()[kind]);
  /** Runs a commit that is declared to invalidate these kinds and writes a header. */
  const commit = async (changes: readonly CachedKind[], header: Header) => {
    await version.committing(changes, () => writeHeader(header));
  };
  /** The kinds whose version differs after some work. */
  const changedBy = async (work: () => Promise<void>) => {
    const before = current();
    await work();
    const after = current();
    return ALL_CACHED.filter((_, kind) => before[kind] !== after[kind]);
  };
  return { path, writeHeader, version, current, commit, changedBy };
}

const proven = async () => {
  const opened = await open();
  await opened.commit([], { counter: 8 });
  return opened;
};

const UNKNOWN = [undefined, undefined];

describe('the state of a WAL index', () => {
  it('is unknown until a commit of our own has moved it', async () => {
    const { writeHeader, current, commit } = await open();
    expect(current()).toEqual(UNKNOWN);
    await writeHeader({ counter: 8 });
    expect(current()).toEqual(UNKNOWN);
    await commit([], { counter: 9 });
    expect(current()).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it.each<[readonly CachedKind[]]>([[[]], [['responses']], [['rows']], [ALL_CACHED]])(
    'changes only for what our commit declares to change: %o',
    async (changes) => {
      const { commit, changedBy } = await proven();
      expect(await changedBy(() => commit(changes, { counter: 9 }))).toEqual(changes);
      expect(await changedBy(() => commit(changes, { counter: 10 }))).toEqual(changes);
    },
  );

  it.each<[string, Header]>([
    ['somebody else commits', { counter: 9 }],
    ['the counter is another without being the next', { counter: 3 }],
    ['anything else in the header changes', { counter: 8, mark: 1 }],
    ['one copy is written and the other is not', { counter: 8, second: 9 }],
  ])('changes for everything when %s and nothing is declared', async (_, header) => {
    const { writeHeader, changedBy } = await proven();
    expect(await changedBy(() => writeHeader(header))).toEqual(ALL_CACHED);
  });

  it.each<[string, Header]>([
    ['two commits are seen where one was declared', { counter: 10 }],
    ['the counter goes back', { counter: 7 }],
    ['the header changes and its counter does not', { counter: 8, mark: 1 }],
    ['both copies do not tell the same', { counter: 9, second: 8 }],
  ])('changes for everything when a commit is declared and %s', async (_, header) => {
    const { writeHeader, version, changedBy } = await proven();
    await version.committing([], async () => {
      expect(await changedBy(() => writeHeader(header))).toEqual(ALL_CACHED);
    });
  });

  it('changes for everything when another commit comes before the declared one, and after it', async () => {
    const { writeHeader, version, changedBy } = await proven();
    await version.committing([], async () => {
      expect(await changedBy(() => writeHeader({ counter: 9 }))).toEqual([]);
      expect(await changedBy(() => writeHeader({ counter: 10 }))).toEqual(ALL_CACHED);
    });
    expect(await changedBy(() => writeHeader({ counter: 11 }))).toEqual(ALL_CACHED);
  });

  it('counts what was committed before a declared commit fails as declared, and nothing after', async () => {
    const { writeHeader, version, changedBy } = await proven();
    const declared = async () => {
      const failing = version.committing(['rows'], async () => {
        await writeHeader({ counter: 9 });
        throw new Error('disk full');
      });
      await expect(failing).rejects.toThrow('disk full');
    };
    expect(await changedBy(declared)).toEqual(['rows']);
    expect(await changedBy(() => writeHeader({ counter: 10 }))).toEqual(ALL_CACHED);
  });
});

describe('while a statement commits that has not had the write lock before', () => {
  it('a commit leaves unclear what else it invalidates until the statement has ended', async () => {
    const { writeHeader, version, current } = await proven();
    const [responses, rows] = current();
    await version.autocommitting(['responses'], async () => {
      await writeHeader({ counter: 9 });
      expect(current()).toEqual([Number(responses) + 1, undefined]);
      return ['a row'];
    });
    expect(current()).toEqual([Number(responses) + 1, rows]);
  });

  it.each<[string, Header[], unknown[] | Error]>([
    ['another process has committed, and the statement nothing', [{ counter: 9 }], []],
    ['another process has committed, and the statement has failed', [{ counter: 9 }], new Error('disk full')],
    ['another process has committed before it', [{ counter: 9 }, { counter: 10 }], ['a row']],
    ['both commits are seen at once', [{ counter: 10 }], ['a row']],
  ])('everything is invalid after it if %s', async (_, headers, result) => {
    const { writeHeader, version, current, changedBy } = await proven();
    const statement = async () => {
      for (const header of headers) {
        await writeHeader(header);
        current();
      }
      if (result instanceof Error) throw result;
      return result;
    };
    const run = () => version.autocommitting(['responses'], statement).then(undefined, () => undefined);
    expect(await changedBy(async () => void (await run()))).toEqual(ALL_CACHED);
    expect(current()).not.toContain(undefined);
  });

  it('nothing is invalid after it if it has changed nothing', async () => {
    const { version, changedBy } = await proven();
    expect(
      await changedBy(async () => void (await version.autocommitting(['responses'], async () => []))),
    ).toEqual([]);
  });
});

describe('an index that reveals nothing', () => {
  it('of our commit is no longer trusted, and this is logged once', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await proven();
    expect(warn).not.toHaveBeenCalled();
    const { commit, current } = await open();
    await commit([], { counter: 7 });
    expect(current()).toEqual(UNKNOWN);
    expect(warn.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringMatching(/did not change with a commit .* Restart the service/),
    ]);
    for (const counter of [8, 8, 9]) await commit([], { counter });
    expect(current()).toEqual(UNKNOWN);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it('restarts with another index: earlier cache entries are invalid', async () => {
    const { path, version, current, commit } = await proven();
    const before = current();
    version.watch(path);
    expect(current()).toEqual(UNKNOWN);
    await commit([], { counter: 9 });
    const after = current();
    for (const kind of [0, 1]) expect([undefined, before[kind]]).not.toContain(after[kind]);
  });
});

describe('reading a WAL index', () => {
  it('is tried again until it can be read, with one line when it cannot and one when it can', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'warn'] as const) {
      vi.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => {
        lines.push(`${level}: ${String(line)}`);
      });
    }
    const { path, writeHeader, version } = await open();
    await rm(path);
    for (let times = 0; times < 2; times += 1) await version.committing([], () => Promise.resolve());
    expect(lines).toEqual([expect.stringMatching(/^warn: .*a\.sqlite-shm cannot be read \(.*ENOENT/)]);
    await writeHeader({ counter: 5 });
    await version.committing([], () => writeHeader({ counter: 6 }));
    expect(version.versions().responses).toBeTypeOf('number');
    expect(lines.slice(1)).toEqual([expect.stringMatching(/^log: .*a\.sqlite-shm can be read again/)]);
    await writeFile(path, 'cut short');
    expect(version.versions().responses).toBeUndefined();
    expect(lines).toHaveLength(2);
  });
});
