import { hash } from 'node:crypto';
import { copyFile, readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runPetstore } from '../../src/cli/program.js';
import { petsUpTo, sourceWith } from '../support/copy-source.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { emptyFolder } from '../support/service-process.js';

/** Each file of a folder with a digest of its content. SQLite writes locks and positions of readers into `-shm`. */
async function contents(folder: string): Promise<[string, string][]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => {
      const isShared = name.endsWith('-shm');
      return [name, isShared ? '' : hash('sha256', await readFile(join(folder, name)))];
    }),
  );
}

describeWith('postgres', 'a copy to PostgreSQL leaves the folder of the file as it was,', () => {
  let target: CopyTarget;
  let folder: string;
  let removeFolder: () => Promise<void>;
  beforeEach(async () => {
    target = await CopyTarget.make();
    ({ path: folder, remove: removeFolder } = await emptyFolder());
  });
  afterEach(async () => {
    await target.remove();
    await removeFolder();
  });

  /** A file in a folder of its own, as a stopped service leaves it. */
  async function stopped(...statements: string[]): Promise<string> {
    const made = await sourceWith(...statements);
    const file = join(folder, 'store.sqlite');
    await copyFile(made, file);
    return file;
  }

  it.each([
    ['copied', petsUpTo(10), undefined],
    ['refused for a row', `${petsUpTo(10)}; UPDATE pets SET name = char(0)`, /pets id 1: /],
    ['refused for its schema', 'ALTER TABLE pets ADD COLUMN colour', /pets\.colour/],
    ['of another journal', `PRAGMA journal_mode = DELETE; ${petsUpTo(10)}`, undefined],
  ])('when it is %s', async (_, statements, refusal) => {
    const file = await stopped(statements);
    const before = await contents(folder);
    expect(before.map(([name]) => name)).toEqual([basename(file)]);
    await (refusal ? expect(target.copy(file)).rejects.toThrow(refusal) : target.copy(file));
    expect(await contents(folder)).toEqual(before);
  });

  it('with the log of a service that was killed', async () => {
    const file = await stopped(petsUpTo(10));
    const killed = await emptyFolder();
    onTestFinished(killed.remove);
    const writer = await new Promise<sqlite3.Database>((resolve) => {
      const opened: sqlite3.Database = new sqlite3.Database(file, () => resolve(opened));
    });
    await new Promise((resolve) => writer.exec(`UPDATE pets SET name = 'Late'`, resolve));
    for (const name of await readdir(folder)) await copyFile(join(folder, name), join(killed.path, name));
    await new Promise<void>((resolve) => writer.close(() => resolve()));
    const before = await contents(killed.path);
    expect(before.map(([name]) => name)).toEqual(['store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal']);
    await target.copy(join(killed.path, 'store.sqlite'));
    expect(await contents(killed.path)).toEqual(before);
    expect(await target.rows('SELECT DISTINCT name FROM pets')).toEqual([['Late']]);
  });
});

describe('petstore db copy refuses with exit code 2', () => {
  const POSTGRES = 'postgres://petstore:pa55word@db.internal/petstore';

  it.each([
    [
      'a bare path to copy from',
      'data/store.sqlite',
      POSTGRES,
      /^--from: This must be sqlite:<file>, such as/,
    ],
    ['a file of memory', 'sqlite::memory:', POSTGRES, /^--from: A database in memory is .* Name a file/],
    ['no database to copy into', 'sqlite:a.sqlite', 'petstore', /^--to: This must be postgres:\/\/user/],
  ])('%s', async (_, from, to, told) => {
    let complaint = '';
    const none = () => Promise.reject(new Error('nothing is started'));
    const shell = { withApp: none, loadModules: none, write: () => undefined };
    const code = await runPetstore(['db', 'copy', '--from', from, '--to', to], {
      ...shell,
      writeError: (text) => (complaint += text),
    });
    expect([code, complaint]).toEqual([2, expect.stringMatching(told)]);
    // Nothing is named that it would refuse then.
    expect(complaint.replace('A database in memory', '')).not.toMatch(/memory|pa55word/);
  });
});
