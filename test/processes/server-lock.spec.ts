import { chown, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../src/database/sqlite/connection.js';
import { ServerLock } from '../../src/database/sqlite/server-lock.js';
import { findingsIn } from '../support/doctor-findings.js';
import { RedisServer } from '../support/redis-server.js';
import { folderOfTest, petstore, serviceOfTest } from '../support/service-process.js';
import { SqliteFile, onFile, rowsOf } from '../support/sqlite-file.js';
import { fillWithFiles, fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

const FILE = 'data/petstore.sqlite';
const REFUSED =
  /Another process serves data\/petstore\.sqlite: stop it first, or set DATABASE_URL to PostgreSQL/;

async function storeOfTest(): Promise<string> {
  const path = await folderOfTest();
  await petstore(path, ['db', 'migrate']);
  return path;
}

/** What doctor finds of a part: its exit code, and the state and text of the part. */
async function doctor(path: string, check: string): Promise<unknown[]> {
  const { code, stdout } = await petstore(path, ['doctor', '--json']);
  const found = findingsIn(stdout).find((one) => one.check === check);
  return [code, found?.state, found?.found];
}

describe('of two processes on one SQLite file', () => {
  it('the second is refused, with Redis too, and the first serves on', async () => {
    const path = await folderOfTest();
    const first = await serviceOfTest(path);
    await expect(serviceOfTest(path)).rejects.toThrow(REFUSED);
    const redis = await RedisServer.ofTest();
    await expect(serviceOfTest(path, { REDIS_URL: redis.url })).rejects.toThrow(REFUSED);
    expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);
    const { mode, size } = await stat(join(path, `${FILE}-server`));
    expect([mode & 0o777, size]).toEqual([0o600, 0]);
  });

  it('the second is refused before it changes the schema, and by a link as well', async () => {
    const path = await storeOfTest();
    const lock = await ServerLock.toServe(join(path, FILE));
    onTestFinished(() => lock.release());
    await onFile(
      join(path, FILE),
      'DELETE FROM schema_migrations WHERE timestamp = (SELECT max(timestamp) FROM schema_migrations)',
    );
    const read = () => rowsOf(join(path, FILE), 'SELECT * FROM schema_migrations');
    const before = await read();
    await symlink(join(path, FILE), join(path, 'link.sqlite'));
    await expect(serviceOfTest(path, { DATABASE_URL: 'sqlite:link.sqlite' })).rejects.toThrow(
      /Another process serves link\.sqlite/,
    );
    expect(await read()).toEqual(before);
  });

  it('the second starts as soon as the first has ended while it waits', async () => {
    const path = await storeOfTest();
    const lock = await ServerLock.toServe(join(path, FILE));
    const second = serviceOfTest(path);
    await lock.release();
    expect((await fetch(`${(await second).url}/health/ready`)).status).toBe(200);
  });

  it('the second starts immediately if the first was killed', async () => {
    const path = await folderOfTest();
    const first = await serviceOfTest(path);
    await first.stop('SIGKILL');
    const second = await serviceOfTest(path);
    expect(await second.stop()).toMatchObject({ code: 0 });
    expect(await readdir(join(path, 'data'))).toEqual(['petstore.sqlite', 'petstore.sqlite-server']);
  });

  it('a process of the build before the update is refused, and the files that it left are removed', async () => {
    const path = await storeOfTest();
    const [held, left] = ['7-0a1b2c3d', '8-0a1b2c3d'].map((name) => join(path, `${FILE}-process-${name}`));
    for (const file of [held, left]) await writeFile(file ?? '', '');
    const old = await Connection.open(held ?? '', 'write');
    await old.all('BEGIN EXCLUSIVE');
    await expect(serviceOfTest(path)).rejects.toThrow(REFUSED);
    await old.close();
    await serviceOfTest(path);
    expect((await readdir(join(path, 'data'))).filter((name) => name.includes('-process-'))).toEqual([]);
  });
});

describe('alongside a server', () => {
  it('the command line reads and writes, a backup is made, and doctor says that it runs', async () => {
    const path = await folderOfTest();
    const service = await serviceOfTest(path);
    expect(await petstore(path, ['client', 'create', '--name', 'Shop', '--plan', 'free'])).toMatchObject({
      code: 0,
    });
    expect(await petstore(path, ['db', 'backup', 'backup.sqlite'])).toMatchObject({ code: 0 });
    expect(await doctor(path, 'processes')).toEqual([0, 'ok', 'a process serves this database']);
    expect(await petstore(path, ['db', 'restore', 'backup.sqlite', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/A process serves .*Stop the service, then restore/),
    });
    await service.stop();
    expect(await doctor(path, 'processes')).toEqual([0, 'ok', 'no process serves this database']);
    expect(await petstore(path, ['db', 'restore', 'backup.sqlite', '--yes'])).toMatchObject({ code: 0 });
  });

  it.each(['restore', 'copy'] as const)(
    'no service starts while a command holds the lock for a %s',
    async (command) => {
      const path = await storeOfTest();
      await (await ServerLock.toServe(join(path, FILE))).release();
      const lock = await ServerLock.withExistingFile(join(path, FILE), command);
      expect(lock).toBeDefined();
      await expect(serviceOfTest(path)).rejects.toThrow(REFUSED);
      await lock?.release();
    },
  );
});

describe.skipIf(NO_SMALL_DISK)('on a full disk', () => {
  async function storeOnSmallDisk(): Promise<string> {
    const path = await smallDisk();
    // Its log stays: what would make it again finds no room.
    await (await serviceOfTest(path)).stop('SIGKILL');
    return path;
  }

  it('a start locks the file all the same: that takes no room', async () => {
    const path = await storeOnSmallDisk();
    await fill(path);
    await serviceOfTest(path);
    expect(await ServerLock.isLocked(join(path, FILE))).toBe(true);
    expect((await readdir(join(path, 'data'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('a start that cannot make the file is refused in one sentence', async () => {
    const path = await storeOnSmallDisk();
    await rm(join(path, `${FILE}-server`));
    await fillWithFiles(path);
    await expect(serviceOfTest(path)).rejects.toThrow(
      /petstore\.sqlite-server, whose lock ensures that only one process serves the database, cannot be used: ENOSPC/,
    );
  });
});

describe('doctor', () => {
  it('finds no error in an empty folder, and creates nothing there', async () => {
    const path = await folderOfTest();
    expect((await doctor(path, 'processes'))[0]).toBe(0);
    expect(await readdir(path)).toEqual([]);
  });

  it('says so while another process has the database locked', async () => {
    const path = await storeOfTest();
    const other = await SqliteFile.open(join(path, FILE));
    await other.run('BEGIN IMMEDIATE');
    expect((await doctor(path, 'database')).slice(0, 2)).toEqual([1, 'wrong']);
    expect((await doctor(path, 'integrity')).slice(0, 2)).toEqual([1, 'ok']);
    await other.close();
  });
});

it.runIf(process.getuid?.() === 0)(
  'the lock that root makes belongs to the owner of the database',
  async () => {
    const path = await storeOfTest();
    for (const name of ['data', FILE]) await chown(join(path, name), 65_534, 65_534);
    await (await ServerLock.toRestore(join(path, FILE))).release();
    expect((await stat(join(path, `${FILE}-server`))).uid).toBe(65_534);
  },
);
