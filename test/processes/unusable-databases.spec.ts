import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, open, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  emptyFolder,
  petstore,
  ROOT,
  ServiceProcess,
  type Finished,
  BARE_ENVIRONMENT,
} from '../support/service-process.js';

/** A user without rights, where the suite runs as root: permissions bind nobody else. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;
const MAIN = join(ROOT, 'dist/bundle/main.js');
const FILE = 'data/petstore.sqlite';

/** Runs a script as a user whom permissions bind, and waits for its end. */
async function run(cwd: string, script: string, args: readonly string[] = []): Promise<Finished> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { ...BARE_ENVIRONMENT, PORT: '0', MANAGEMENT_PORT: '0', NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    // It was to be refused.
    if (stdout.includes('Listening on')) child.kill('SIGKILL');
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr };
}

const reachable =
  !IS_ROOT ||
  spawnSync(process.execPath, ['-e', `require('node:fs').readFileSync(${JSON.stringify(MAIN)})`], {
    uid: NOBODY,
    gid: NOBODY,
  }).status === 0;

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  await chmod(path, 0o777);
  return path;
}

/** Runs statements in a file, and leaves it open until the end of the test when it is to be held. */
async function sql(file: string, statements: string, isHeld = false): Promise<void> {
  const database = new sqlite3.Database(file);
  await new Promise<void>((resolve, reject) => {
    database.exec(statements, (error) => (error ? reject(error) : resolve()));
  });
  const close = () => new Promise<void>((resolve) => database.close(() => resolve()));
  if (isHeld) onTestFinished(close);
  else await close();
}

/** A store as the service makes it, made once. */
let made: Promise<{ path: string; remove: () => Promise<void> }> | undefined;
afterAll(async () => (await made)?.remove());

async function makeStore(): Promise<{ path: string; remove: () => Promise<void> }> {
  const place = await emptyFolder();
  const { code } = await petstore(place.path, ['db', 'seed', '--count', '2000']);
  expect(code).toBe(0);
  return place;
}

/** A copy of it. */
async function store(path: string): Promise<string> {
  made ??= makeStore();
  const file = join(path, FILE);
  await mkdir(dirname(file));
  await copyFile(join((await made).path, FILE), file);
  await chmod(dirname(file), 0o777);
  await chmod(file, 0o666);
  return file;
}

async function overwrite(file: string, at: number, bytes: number): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(bytes, 0xa5), 0, bytes, at);
  await handle.close();
}

interface Case {
  readonly what: string;
  readonly prepare: (path: string) => Promise<void>;
  /** What the line says beside the file's name. */
  readonly says: RegExp;
}

const CASES: Case[] = [
  {
    what: 'is locked by another process',
    prepare: async (path) => sql(await store(path), 'BEGIN EXCLUSIVE', true),
    says: /locked by another process.*try again/,
  },
  {
    what: 'is locked by another process, for itself alone',
    prepare: async (path) =>
      sql(
        await store(path),
        'PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE pets SET id = id WHERE id = 1; COMMIT',
        true,
      ),
    says: /locked by another process.*try again/,
  },
  {
    what: 'is empty and locked by another process',
    prepare: async (path) => {
      await mkdir(join(path, 'data'), { mode: 0o777 });
      await sql(join(path, FILE), 'BEGIN EXCLUSIVE', true);
      await chmod(join(path, 'data'), 0o777);
      await chmod(join(path, FILE), 0o666);
    },
    says: /locked by another process.*try again/,
  },
  {
    what: 'is no SQLite file',
    prepare: async (path) => {
      await mkdir(join(path, 'data'));
      await writeFile(join(path, FILE), 'Dear diary, '.repeat(1_000));
      await chmod(join(path, 'data'), 0o777);
      await chmod(join(path, FILE), 0o666);
    },
    says: /not an SQLite database.*backup/,
  },
  {
    what: 'has a damaged page in the middle',
    prepare: async (path) => {
      const file = await store(path);
      const { length } = await readFile(file);
      await overwrite(file, Math.floor(length / 2 / 4_096) * 4_096, 4_096);
    },
    says: /damaged.*backup/,
  },
  {
    what: 'has lost its end',
    prepare: async (path) => {
      const file = await store(path);
      const { length } = await readFile(file);
      await truncate(file, Math.floor(length / 2 / 4_096) * 4_096);
    },
    says: /damaged.*backup/,
  },
  {
    what: 'is the database of another program',
    prepare: async (path) => {
      await mkdir(join(path, 'data'));
      await sql(join(path, FILE), 'CREATE TABLE moz_places (url text); CREATE TABLE invoices (id integer)');
      await chmod(join(path, 'data'), 0o777);
      await chmod(join(path, FILE), 0o666);
    },
    says: /another program.*invoices, moz_places.*DATABASE_URL/,
  },
  {
    what: 'is the database of another program that keeps migrations too',
    prepare: async (path) => {
      await mkdir(join(path, 'data'));
      await sql(
        join(path, FILE),
        'CREATE TABLE schema_migrations (version text); CREATE TABLE invoices (id integer)',
      );
      await chmod(join(path, 'data'), 0o777);
      await chmod(join(path, FILE), 0o666);
    },
    says: /another program.*invoices.*DATABASE_URL/,
  },
  {
    what: 'was migrated by a newer version',
    prepare: async (path) =>
      sql(
        await store(path),
        `INSERT INTO schema_migrations (timestamp, name) VALUES (4102444800000, 'Tomorrow4102444800000')`,
      ),
    says: /newer version.*Tomorrow4102444800000.*Start that version/,
  },
  {
    what: 'is a folder',
    prepare: async (path) => void (await mkdir(join(path, FILE), { recursive: true })),
    says: /is a folder.*DATABASE_URL/,
  },
  {
    what: 'may not be read',
    prepare: async (path) => chmod(await store(path), 0o000),
    says: /may not be read.*permission/,
  },
  {
    what: 'may not be written',
    prepare: async (path) => chmod(await store(path), 0o444),
    says: /may not be written.*permission/,
  },
  {
    what: 'is in a folder that may not be written',
    prepare: async (path) => {
      await store(path);
      await chmod(join(path, 'data'), 0o555);
    },
    says: /folder.*may not be written.*permission/,
  },
  {
    what: 'is missing in a folder that may not be written',
    prepare: (path) => mkdir(join(path, 'data'), { mode: 0o555 }),
    says: /folder.*may not be written.*permission/,
  },
  {
    what: 'is in a folder that cannot be made',
    prepare: async (path) => chmod(path, 0o555),
    says: /folder.*cannot be made.*permission/,
  },
  {
    what: 'is in what is no folder',
    prepare: (path) => writeFile(join(path, 'data'), ''),
    says: /data is not a folder.*DATABASE_URL/,
  },
];

describe.skipIf(!reachable)('a database that cannot be used, because it', () => {
  it.each(CASES)('$what, is told in one line that says what to do', async ({ prepare, says }) => {
    const path = await folder();
    await prepare(path);
    const runs = [await run(path, MAIN), await run(path, join(ROOT, 'bin/petstore.js'), ['db', 'migrate'])];
    for (const { code, stdout, stderr } of runs) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^.*\n$/);
      expect(stderr).toContain(FILE);
      expect(stderr).toMatch(says);
    }
  });
});

describe('a new store', () => {
  it.each([
    ['a file of no bytes', ''],
    [
      'what a first start has made that was killed before its first migration',
      'CREATE TABLE schema_expansions (name varchar(255) PRIMARY KEY)',
    ],
  ])('is %s', async (_, statements) => {
    const path = await folder();
    await mkdir(join(path, 'data'));
    await writeFile(join(path, FILE), '');
    await sql(join(path, FILE), statements);
    const service = await ServiceProcess.start(path);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    expect(service.output).toContain('The store was empty');
  });
});
