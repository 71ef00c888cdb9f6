import { chmod, link, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProcessMarks } from '../src/database/sqlite/process-marks.js';
import { ownFolder, pet, restoreFrom, storeWith } from './support/backup-orders.js';
import { onFile } from './support/copy-source.js';
import { petstore } from './support/service-process.js';

const DATED = 'petstore.sqlite.replaced-20261122T180000Z';

describe('a restore', () => {
  it('is refused without --yes where there is a database and nobody to ask, and done without where there is none', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    const before = await readFile(database);
    const ask = (file: string) =>
      petstore(dirname(file), ['db', 'restore', backup], { DATABASE_URL: `sqlite:${file}` });
    expect(await ask(database)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('add --yes. Nothing was changed.'),
    });
    expect(await readFile(database)).toEqual(before);
    const empty = join(await ownFolder(), 'petstore.sqlite');
    expect(await ask(empty)).toMatchObject({ code: 0, stdout: expect.stringContaining(`Restored ${empty}`) });
  });

  it.each<readonly [string, (backup: string) => Promise<void>, RegExp]>([
    ['damaged', async (file) => writeFile(file, (await readFile(file)).fill(7, 9_000, 60_000)), /is damaged/],
    ['none of SQLite', (file) => writeFile(file, 'Dear shop. '.repeat(1_000)), /no SQLite database/],
    ['empty', (file) => writeFile(file, ''), /is empty\. Name another backup/],
    ['of another program', (file) => onFile(file, 'DROP TABLE schema_migrations'), /of another program/],
    [
      'of a newer version',
      (file) =>
        onFile(
          file,
          `INSERT INTO schema_migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')`,
        ),
      /newer version of the service \(Later1999999999999\)/,
    ],
  ])('of a backup that is %s changes nothing', async (_, spoil, told) => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await spoil(backup);
    const before = (await readFile(database)).subarray(100);
    await expect(restoreFrom(backup, database)).rejects.toThrow(told);
    // Its header counts the changes of the way in which it is written.
    expect((await readFile(database)).subarray(100).equals(before)).toBe(true);
    expect(await readdir(join(database, '..'))).toEqual(['petstore.sqlite']);
  });

  it('of one that lacks migrations says which', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await onFile(backup, `DELETE FROM schema_migrations WHERE name LIKE 'OutboxB%'`);
    expect((await restoreFrom(backup, database)).pending).toEqual(['OutboxBacklog1793491222000']);
  });

  it('is refused while a process serves the database, has it open, or it is the backup itself', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await expect(restoreFrom(database, database)).rejects.toThrow(/is the database itself/);
    const marks = await ProcessMarks.of(database);
    await marks.keep();
    await expect(restoreFrom(backup, database)).rejects.toThrow(/A process serves .*Stop the service/);
    await marks.remove();
    const other = new sqlite3.Database(database);
    onTestFinished(() => new Promise((resolve) => other.close(() => resolve())));
    const open = 'PRAGMA journal_mode = WAL; BEGIN; SELECT * FROM pets';
    await new Promise((resolve) => other.exec(open, resolve));
    await expect(restoreFrom(backup, database)).rejects.toThrow(/Another process has .* open .*Stop it/);
  });

  it('takes the log away that would be replayed, also where the file is gone', async () => {
    const [backup, folder] = [await storeWith(pet(1)), await ownFolder()];
    const database = join(folder, 'petstore.sqlite');
    await writeFile(`${database}-wal`, 'old log');
    expect((await restoreFrom(backup, database)).replaced).toBe(join(folder, DATED));
    expect((await readdir(folder)).toSorted()).toEqual(['petstore.sqlite', `${DATED}-wal`]);
  });

  it('twice in one second keeps both, and the new file has the permissions of the old', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await chmod(database, 0o640);
    const first = await restoreFrom(backup, database);
    const second = await restoreFrom(backup, database);
    expect(second.replaced).toBe(`${first.replaced}-2`);
    for (const file of [first.replaced ?? '', second.replaced ?? '', database])
      expect((await stat(file)).mode & 0o777).toBe(0o640);
  });

  it('that was killed before the last step is done again, and keeps what was replaced once', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await link(database, `${database}.replaced-20261122T175900Z`);
    const { replaced } = await restoreFrom(backup, database);
    expect(basename(replaced ?? '')).toBe(DATED);
    expect((await readdir(join(database, '..'))).toSorted()).toEqual(['petstore.sqlite', DATED]);
  });

  it('over a folder is refused', async () => {
    const [backup, folder] = [await storeWith(pet(1)), await ownFolder()];
    await mkdir(join(folder, 'petstore.sqlite'));
    await expect(restoreFrom(backup, join(folder, 'petstore.sqlite'))).rejects.toThrow(/is no file/);
  });
});
