import { spawnSync } from 'node:child_process';
import { readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../src/database/sqlite/connection.js';
import { MANY_ANIMALS, backUpTo, pet, storeWith } from '../support/backup-orders.js';
import { onFile } from '../support/sqlite-file.js';
import { BARE_ENVIRONMENT, spawnPetstore, folderOfTest, SERVICE } from '../support/service-process.js';
import { NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

describe('a backup', () => {
  it('is one file that only its owner can access, and leaves nothing next to it or the database', async () => {
    const [folder, database] = [await folderOfTest(), await storeWith(pet(1), pet(2))];
    const files = await readdir(join(database, '..'));
    await backUpTo(join(folder, 'b.sqlite'), { database });
    expect(await readdir(folder)).toEqual(['b.sqlite']);
    expect((await stat(join(folder, 'b.sqlite'))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(database, '..'))).toEqual(files);
  });

  it('has the user version, and the ids that deleted rows had', async () => {
    const file = join(await folderOfTest(), 'b.sqlite');
    const database = await storeWith(
      pet(1),
      pet(7),
      'DELETE FROM pets WHERE id = 7',
      'PRAGMA user_version = 5',
    );
    await backUpTo(file, { database });
    const backup = await Connection.open(file, 'read');
    onTestFinished(() => backup.close());
    expect(await backup.all('PRAGMA user_version')).toEqual([{ user_version: 5 }]);
    expect(await backup.all(`SELECT seq FROM sqlite_sequence WHERE name = 'pets'`)).toEqual([{ seq: 7 }]);
  });

  it('replaces another only with --overwrite, and only when it is complete', async () => {
    const file = join(await folderOfTest(), 'b.sqlite');
    await writeFile(file, 'the backup of yesterday');
    await expect(backUpTo(file)).rejects.toThrow(
      `${file} already exists. Choose another file, or add --overwrite.`,
    );
    const signal = AbortSignal.abort();
    await expect(backUpTo(file, { overwrite: true, signal })).rejects.toThrow(/^Interrupted/);
    expect(await readFile(file, 'utf8')).toBe('the backup of yesterday');
    await backUpTo(file, { overwrite: true });
    expect(await readFile(file, 'latin1')).toMatch(/^SQLite format 3/);
  });

  it.each([
    ['the database', ''],
    ['its log', '-wal'],
    ['its index', '-shm'],
    ['the lock of its server', '-server'],
  ])('is not written over %s', async (_, end) => {
    const database = await storeWith(pet(1));
    const before = await readFile(database);
    await expect(backUpTo(`${database}${end}`, { database, overwrite: true })).rejects.toThrow(
      /is the database itself or one of its files/,
    );
    expect(await readFile(database)).toEqual(before);
  });

  it.each([
    ['in no folder', 'none/b.sqlite', /The folder .*none does not exist\. Create it/],
    [
      'in what is a file',
      'file/b.sqlite',
      /file\/b\.sqlite cannot be used \(ENOTDIR.*\)\. Name another file\./,
    ],
    ['of too long a name', 'b'.repeat(300), /cannot be used \(ENAMETOOLONG.*\)\. Name another file\./],
  ])('%s is refused with the reason', async (_, name, reason) => {
    const folder = await folderOfTest();
    await writeFile(join(folder, 'file'), '');
    await expect(backUpTo(join(folder, name))).rejects.toThrow(reason);
    expect(await readdir(folder)).toEqual(['file']);
  });

  it('is not written over the database by a link', async () => {
    const database = await storeWith(pet(1));
    const link = join(await folderOfTest(), 'b.sqlite');
    await symlink(database, link);
    await expect(backUpTo(link, { database, overwrite: true })).rejects.toThrow(/is the database itself/);
  });

  it.each([
    ['to a file', 'none.sqlite'],
    ['to a file in no folder', 'none/none.sqlite'],
    ['to itself', 'b.sqlite'],
  ])('is not written through a link %s that does not exist', async (_, target) => {
    const folder = await folderOfTest();
    const [link, other] = [join(folder, 'b.sqlite'), join(await folderOfTest(), target)];
    await symlink(target === 'b.sqlite' ? link : other, link);
    for (const overwrite of [false, true])
      await expect(backUpTo(link, { overwrite })).rejects.toThrow(
        `${link} is a symbolic link to a file that does not exist. Remove it, or choose another file.`,
      );
    expect([await readdir(folder), await readdir(dirname(other)).catch(() => [])]).toEqual([
      ['b.sqlite'],
      [],
    ]);
  });

  it.each(['-wal', '-journal'])('is not written next to a link %s that leads nowhere', async (end) => {
    const folder = await folderOfTest();
    await symlink(join(folder, 'none'), join(folder, `b.sqlite${end}`));
    await expect(backUpTo(join(folder, 'b.sqlite'))).rejects.toThrow(`b.sqlite${end} is next to`);
    expect(await readdir(folder)).toEqual([`b.sqlite${end}`]);
  });

  it('is refused where it cannot lie, and says why', async () => {
    const folder = await folderOfTest();
    await expect(backUpTo(join(folder, 'none/b.sqlite'))).rejects.toThrow(/none does not exist\. Create it/);
    await expect(backUpTo(folder)).rejects.toThrow(/is a folder\. Name a file in it/);
    await writeFile(join(folder, 'b.sqlite-wal'), 'of another');
    await expect(backUpTo(join(folder, 'b.sqlite'))).rejects.toThrow(/b\.sqlite-wal is next to/);
    await expect(backUpTo(join(folder, 'c'), { database: join(folder, 'no.sqlite') })).rejects.toThrow(
      /no\.sqlite does not exist\. Set DATABASE_URL/,
    );
    expect(await readdir(folder)).toEqual(['b.sqlite-wal']);
  });

  it.each<readonly [string, (file: string) => unknown]>([
    ['pipe', (file) => spawnSync('mkfifo', [file])],
    ['device', (file) => spawnSync('mknod', [file, 'c', '1', '3'])],
  ])('does not take the place of a %s, which a rename would remove', async (_, make) => {
    const file = join(await folderOfTest(), 'b');
    make(file);
    const before = await stat(file).catch(() => undefined);
    // Only root makes devices.
    if (!before) return;
    await expect(backUpTo(file, { overwrite: true })).rejects.toThrow(/b is not a file\. Name another/);
    expect((await stat(file)).mode).toBe(before.mode);
  });

  it.each<readonly [string, (file: string) => Promise<void>, RegExp]>([
    ['that is empty', (file) => writeFile(file, ''), /is empty, so there is nothing to back up/],
    [
      'of another program',
      (file) => onFile(file, 'CREATE TABLE invoices (id)'),
      /is the database of another program \(tables invoices\)\. Set DATABASE_URL to another file/,
    ],
  ])('of a database %s is refused, because no restore would take it', async (_, make, message) => {
    const folder = await folderOfTest();
    const database = join(await folderOfTest(), 'other.sqlite');
    await writeFile(database, '');
    await make(database);
    await expect(backUpTo(join(folder, 'b.sqlite'), { database })).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual([]);
  });

  it('of a damaged database is refused', async () => {
    const database = await storeWith(MANY_ANIMALS);
    const bytes = await readFile(database);
    await writeFile(database, bytes.fill(7, bytes.length / 2, bytes.length / 2 + 20_000));
    const folder = await folderOfTest();
    await expect(backUpTo(join(folder, 'b.sqlite'), { database })).rejects.toThrow(/sqlite is damaged/);
    expect(await readdir(folder)).toEqual([]);
  });

  it.skipIf(NO_SMALL_DISK)('on a disk without room leaves nothing on it', async () => {
    const folder = await smallDisk(2);
    const database = await storeWith(MANY_ANIMALS);
    await expect(backUpTo(join(folder, 'b.sqlite'), { database })).rejects.toThrow(
      /The copy needs \d+ MiB, and the disk of .* has 2 MiB free\. Free up space on it/,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('that meets a full disk on its way, or is interrupted, leaves nothing', async () => {
    const [folder, database] = [await folderOfTest(), await storeWith(MANY_ANIMALS)];
    // No file may grow beyond 2 MiB.
    const limited = `ulimit -f 2048 && exec '${process.execPath}' '${join(SERVICE, 'bin/petstore.js')}' db backup b.sqlite`;
    const env = { ...BARE_ENVIRONMENT, DATABASE_URL: `sqlite:${database}` };
    const { status, stderr } = spawnSync('bash', ['-c', limited], { cwd: folder, env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/disk is full|cannot be copied/)]);
    expect(await readdir(folder)).toEqual([]);
    const stop = new AbortController();
    const interrupted = backUpTo(join(folder, 'b.sqlite'), { database, signal: stop.signal });
    await expect.poll(async () => (await readdir(folder)).length, { interval: 1 }).toBeGreaterThan(0);
    stop.abort();
    await expect(interrupted).rejects.toThrow(/^Interrupted/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is killed has no name, and the next one removes what it left', async () => {
    const [folder, database] = [await folderOfTest(), await storeWith(MANY_ANIMALS)];
    const { child, outcome } = spawnPetstore(folder, ['db', 'backup', 'b.sqlite'], {
      DATABASE_URL: `sqlite:${database}`,
    });
    await expect.poll(async () => (await readdir(folder)).length, { interval: 2 }).toBeGreaterThan(0);
    child.kill('SIGKILL');
    expect(await outcome).toMatchObject({ signal: 'SIGKILL' });
    const left = await readdir(folder);
    expect(left.filter((name) => !name.startsWith('.b.sqlite.part-'))).toEqual([]);
    // Under another name.
    await backUpTo(join(folder, 'next.sqlite'), { database });
    expect(await readdir(folder)).toEqual(['next.sqlite']);
  });
});
