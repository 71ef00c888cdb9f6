import { spawnSync } from 'node:child_process';
import { copyFile, readFile, readdir, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerLock } from '../../src/database/sqlite/server-lock.js';
import { pet, restoreFrom, storeWith } from '../support/backup-orders.js';
import { SqliteFile, onFile } from '../support/sqlite-file.js';
import { folderOfTest, petstore } from '../support/service-process.js';
import { NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const DATED = 'petstore.sqlite.replaced-20261122T180000Z';
/** The file by whose lock no server starts during a restore. */
const LOCK = 'petstore.sqlite-server';

describe('a restore', () => {
  it('is refused without --yes if a database exists and there is no terminal, and needs no --yes if none exists', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    const before = await readFile(database);
    const restore = (file: string) =>
      petstore(dirname(file), ['db', 'restore', backup], { DATABASE_URL: `sqlite:${file}` });
    expect(await restore(database)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('add --yes. Nothing was changed.'),
    });
    expect(await readFile(database)).toEqual(before);
    const empty = join(await folderOfTest(), 'petstore.sqlite');
    expect(await restore(empty)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Restored ${empty}`),
    });
  });

  it.each<readonly [string, (backup: string) => Promise<void>, RegExp]>([
    [
      'damaged',
      async (file) => writeFile(file, (await readFile(file)).fill(7, 9_000, 60_000)),
      /is damaged .* Name another backup\.$/,
    ],
    [
      'none of SQLite',
      (file) => writeFile(file, 'Dear shop. '.repeat(1_000)),
      /is not an SQLite database\. Name another backup\.$/,
    ],
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
  ])('of a backup that is %s changes nothing', async (_, spoil, message) => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await spoil(backup);
    const before = (await readFile(database)).subarray(100);
    await expect(restoreFrom(backup, database)).rejects.toThrow(message);
    // Its header counts the changes of the way in which it is written.
    expect((await readFile(database)).subarray(100).equals(before)).toBe(true);
    expect(await readdir(dirname(database))).toEqual(['petstore.sqlite']);
  });

  it('of a damaged backup leaves no file where there is no database', async () => {
    const [backup, folder] = [await storeWith(pet(1)), await folderOfTest()];
    await writeFile(backup, (await readFile(backup)).fill(7, 9_000, 60_000));
    await expect(restoreFrom(backup, join(folder, 'petstore.sqlite'))).rejects.toThrow(/is damaged/);
    expect(await readdir(folder)).toEqual([]);
  });

  it.skipIf(NO_SMALL_DISK)('of a copy with a log on a disk that is only read says what to do', async () => {
    const [disk, database] = [await smallDisk(), await storeWith(pet(2))];
    const backup = join(disk, 'b.sqlite');
    await copyFile(await storeWith(pet(1)), backup);
    await onFile(backup, 'PRAGMA journal_mode = WAL');
    expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0);
    await expect(restoreFrom(backup, database)).rejects.toThrow(
      /b\.sqlite cannot be opened .* Copy it, with its -wal file if there is one, to a folder that this user may write to/,
    );
    expect(await readdir(dirname(database))).toEqual(['petstore.sqlite']);
  });

  it('is refused while a process serves the database, has it open, or it is the backup itself', async () => {
    const [backup, database] = [await storeWith(pet(1)), await storeWith(pet(2))];
    await expect(restoreFrom(database, database)).rejects.toThrow(/is the database itself/);
    const lock = await ServerLock.toServe(database);
    await expect(restoreFrom(backup, database)).rejects.toThrow(/A process serves .*Stop the service/);
    await lock.release();
    const other = await SqliteFile.open(database);
    onTestFinished(() => other.close());
    await other.run('PRAGMA journal_mode = WAL; BEGIN; SELECT * FROM pets');
    await expect(restoreFrom(backup, database)).rejects.toThrow(/Another process has .* open .*Stop it/);
  });

  it('makes the folder that was lost with its disk, and says why it cannot', async () => {
    const [backup, folder] = [await storeWith(pet(1)), await folderOfTest()];
    const lost = join(folder, 'disk/data/petstore.sqlite');
    expect((await restoreFrom(backup, lost)).replaced).toBeNull();
    expect((await stat(dirname(lost))).mode & 0o777).toBe(0o700);
    await expect(restoreFrom(backup, join(lost, 'petstore.sqlite'))).rejects.toThrow(
      /cannot be created: ENOTDIR/,
    );
  });

  it('of a damaged database behind a link takes the place of the file, and leaves the link', async () => {
    const [backup, file] = [await storeWith(pet(1)), await storeWith(pet(2))];
    const link = join(await folderOfTest(), 'link.sqlite');
    await symlink(file, link);
    await writeFile(file, (await readFile(file)).fill(7, 200, 40_000));
    expect((await restoreFrom(backup, link)).replaced).toBe(join(dirname(file), DATED));
    expect([await readlink(link), (await readFile(file, 'latin1')).includes('Pet 1')]).toEqual([file, true]);
  });

  it('twice within a second keeps both stores that were replaced', async () => {
    const database = await storeWith(pet(1));
    for (const id of [2, 3]) await restoreFrom(await storeWith(pet(id)), database);
    const folder = dirname(database);
    expect((await readdir(folder)).toSorted()).toEqual(
      ['petstore.sqlite', LOCK, DATED, `${DATED}-2`].toSorted(),
    );
    for (const [at, name] of [DATED, `${DATED}-2`, 'petstore.sqlite'].entries())
      expect(await readFile(join(folder, name), 'latin1')).toContain(`Pet ${at + 1}`);
  });

  it('removes the log that would be replayed, even if the file is missing', async () => {
    const [backup, folder] = [await storeWith(pet(1)), await folderOfTest()];
    const database = join(folder, 'petstore.sqlite');
    await writeFile(`${database}-wal`, 'old log');
    expect((await restoreFrom(backup, database)).replaced).toBe(join(folder, DATED));
    expect((await readdir(folder)).toSorted()).toEqual(['petstore.sqlite', LOCK, `${DATED}-wal`].toSorted());
  });
});
