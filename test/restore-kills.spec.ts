import { type FSWatcher, watch } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownFolder, pet, storeWith } from './support/backup-orders.js';
import { beginPetstore } from './support/service-process.js';

/** How many restores are killed. The first are killed at their first steps, the last at their last ones. */
const KILLS = 12;

/** What the database has that a name leads to: the names of its animals. Throws unless it is sound. */
async function contentOf(file: string): Promise<string> {
  const database = new sqlite3.Database(file, sqlite3.OPEN_READWRITE);
  const rows = (sql: string) =>
    new Promise<Record<string, unknown>[]>((resolve, reject) => {
      database.all<Record<string, unknown>>(sql, (error, found) => (error ? reject(error) : resolve(found)));
    });
  try {
    expect(await rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    return (await rows('SELECT name FROM pets')).map(({ name }) => String(name)).join();
  } finally {
    await new Promise((resolve) => database.close(resolve));
  }
}

/** A store whose process was killed: its last animal is in the write-ahead log alone. */
async function killedStore(file: string): Promise<void> {
  const source = await storeWith(pet(1));
  const writer = new sqlite3.Database(source);
  onTestFinished(() => new Promise((resolve) => writer.close(() => resolve())));
  await new Promise((resolve) => writer.exec(`PRAGMA journal_mode = WAL; ${pet(2)}`, resolve));
  for (const end of ['', '-wal']) await copyFile(`${source}${end}`, `${file}${end}`);
}

/** Restores a backup by a process of its own, which is killed at that change of the folder; answers how many it made. */
async function restoreKilled(database: string, backup: string, killAt: number) {
  const folder = dirname(database);
  const order = ['db', 'restore', backup, '--yes'];
  const { child, outcome } = beginPetstore(folder, order, { DATABASE_URL: `sqlite:${database}` });
  let steps = 0;
  const watcher: FSWatcher = watch(folder, () => {
    steps += 1;
    if (steps === killAt) child.kill('SIGKILL');
  });
  const ended = await outcome;
  // What it did last is told a moment later.
  await new Promise(setImmediate);
  watcher.close();
  return { ...ended, steps };
}

describe('a restore that is killed', () => {
  it('leaves at every step a sound database under its name, the old or the new, and is done again', async () => {
    const folder = await ownFolder();
    const database = join(folder, 'petstore.sqlite');
    const backups = [await storeWith(pet(10)), await storeWith(pet(20))] as const;
    await killedStore(database);
    // How many steps there are.
    const first = await restoreKilled(database, backups[0], 0);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored') });
    expect(first.steps).toBeGreaterThan(KILLS);
    await killedStore(database);
    let before = 'Pet 1,Pet 2';
    let kills = 0;
    for (let round = 1; round <= KILLS; round += 1) {
      const [backup, name] = round % 2 === 0 ? [backups[0], 'Pet 10'] : [backups[1], 'Pet 20'];
      const killAt = Math.ceil((first.steps * round) / KILLS);
      const { signal, code } = await restoreKilled(database, backup, killAt);
      if (signal === 'SIGKILL') kills += 1;
      else expect(code).toBe(0);
      const after = await contentOf(database);
      expect([before, name], `killed at step ${killAt} of ${first.steps}`).toContain(after);
      before = after;
    }
    // The last steps take less time than a signal.
    expect(kills).toBeGreaterThan(KILLS / 2);

    const last = await restoreKilled(database, backups[0], 0);
    expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored') });
    expect(await contentOf(database)).toBe('Pet 10');
    const kept = (await readdir(folder)).filter((name) => name !== basename(database)).toSorted();
    for (const name of kept) expect(name).toMatch(/^petstore\.sqlite\.replaced-\w+(-\d+)?$/);
    for (const name of kept)
      expect(['Pet 1,Pet 2', 'Pet 10', 'Pet 20']).toContain(await contentOf(join(folder, name)));
  });
});
