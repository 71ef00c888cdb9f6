import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { petstoreHere } from '../support/petstore-here.js';
import { emptyFolder, folderOfTest, petstore, serviceOfTest, SERVICE } from '../support/service-process.js';
import { SqliteFile, onFile } from '../support/sqlite-file.js';

/** A user without rights, where the suite runs as root: permissions bind nobody else. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const MAIN = join(SERVICE, 'dist/bundle/main.js');
const FILE = 'data/petstore.sqlite';

const reachable =
  spawnSync(process.execPath, ['-e', `require('node:fs').readFileSync(${JSON.stringify(MAIN)})`], NOBODY)
    .status === 0;

async function folder(): Promise<string> {
  const path = await folderOfTest();
  await chmod(path, 0o777);
  return path;
}

/** A store as the service makes it, made once. */
let made: Promise<{ path: string; remove: () => Promise<void> }> | undefined;
afterAll(async () => (await made)?.remove());

async function makeStore(): Promise<{ path: string; remove: () => Promise<void> }> {
  const folderOfStore = await emptyFolder();
  const { code } = await petstore(folderOfStore.path, ['db', 'seed', '--count', '2000']);
  expect(code).toBe(0);
  return folderOfStore;
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

/** A file of others in the place of the store, which everybody may read and write. */
async function place(path: string, content: string, ...statements: string[]): Promise<string> {
  const file = join(path, FILE);
  await mkdir(dirname(file));
  await writeFile(file, content);
  await onFile(file, ...statements);
  await chmod(dirname(file), 0o777);
  await chmod(file, 0o666);
  return file;
}

type Prepare = (path: string) => Promise<unknown>;

const migratedByNewer: Prepare = async (path) =>
  onFile(
    await store(path),
    `INSERT INTO schema_migrations (timestamp, name) VALUES (4102444800000, 'Tomorrow4102444800000')`,
  );
const NEWER = /newer version.*Tomorrow4102444800000.*Start that version/;

/** Why a database cannot be used, and what the line says alongside the file's name. */
const CASES: readonly (readonly [string, Prepare, RegExp])[] = [
  [
    'is locked by another process',
    async (path) => {
      const other = await SqliteFile.open(await store(path));
      onTestFinished(() => other.close());
      await other.run('BEGIN EXCLUSIVE');
    },
    /locked by another process.*try again/,
  ],
  [
    'is no SQLite file',
    (path) => place(path, 'Dear diary, '.repeat(1_000)),
    /not an SQLite database.*backup/,
  ],
  [
    'has a damaged page in the middle',
    async (path) => {
      const file = await store(path);
      const { length } = await readFile(file);
      await overwrite(file, Math.floor(length / 2 / 4_096) * 4_096, 4_096);
    },
    /damaged.*backup/,
  ],
  [
    'is the database of another program',
    (path) => place(path, '', 'CREATE TABLE moz_places (url text); CREATE TABLE invoices (id integer)'),
    /another program.*invoices, moz_places.*DATABASE_URL/,
  ],
  ['was migrated by a newer version', migratedByNewer, NEWER],
  ['is a folder', (path) => mkdir(join(path, FILE), { recursive: true }), /is a folder.*DATABASE_URL/],
  ['is not readable', async (path) => chmod(await store(path), 0o000), /is not readable.*permission/],
  ['is not writable', async (path) => chmod(await store(path), 0o444), /is not writable.*permission/],
  [
    'is in a folder that is not writable',
    async (path) => chmod(dirname(await store(path)), 0o555),
    /folder.*is not writable.*permission/,
  ],
  [
    'is in a folder that cannot be made',
    (path) => chmod(path, 0o555),
    /folder.*cannot be created.*permission/,
  ],
];

describe.skipIf(!reachable)('a database that cannot be used, because it', () => {
  it.each(CASES)('%s, is reported in one line that says what to do', async (_, prepare, expected) => {
    const path = await folder();
    await prepare(path);
    const message = await serviceOfTest(path, { NODE_ENV: 'production' }, MAIN, NOBODY).then(
      () => '',
      String,
    );
    expect(message).toMatch(/^Error: The service ended with 1:\n\n.*\n$/);
    expect(message).toContain(FILE);
    expect(message).toMatch(expected);
  });

  it('was migrated by a newer version, or is on /proc, is reported by the command line in the same line', async () => {
    const path = await folder();
    await migratedByNewer(path);
    for (const [file, expected] of [
      [FILE, NEWER],
      ['/proc/petstore/petstore.sqlite', /cannot be created \(ENOENT\).*DATABASE_URL/],
      ['/proc/petstore.sqlite', /cannot be (?:created|used).*DATABASE_URL/],
    ] as const) {
      const result = await petstoreHere(path, ['db', 'migrate'], { DATABASE_URL: `sqlite:${file}` });
      expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^.*\n$/) });
      expect(result.stderr).toMatch(expected);
    }
  });
});

it('a file of no bytes is a new store, and so is what a first start has made that was killed before its first migration', async () => {
  for (const statements of ['', 'CREATE TABLE schema_expansions (name varchar(255) PRIMARY KEY)']) {
    const path = await folder();
    await place(path, '', statements);
    const service = await serviceOfTest(path);
    expect(service.output).toContain('The database was empty');
  }
});
