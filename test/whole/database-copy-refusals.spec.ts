import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ServerLock } from '../../src/database/sqlite/server-lock.js';
import { petsUpTo, sourceWith } from '../support/copy-source.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest } from '../support/service-process.js';

const pet = (values: string) => `INSERT INTO pets (id, name, category_id, status) VALUES (${values})`;
const CLIENT = `INSERT INTO clients (id, name, plan, created_at) VALUES ('c', 'Shop', 'pro', '2026-11-22T00:00:00.000Z')`;
const key = (id: string, client: string) =>
  `INSERT INTO api_keys (id, client_id, digest, prefix, scopes, created_at) VALUES ('${id}', '${client}', 'd', 'p', '[]', 't')`;
const withoutConstraints = (table: string) =>
  `PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = '${table}'`;

/** What PostgreSQL would not store, or not as it is, and how the first of it is named. */
const ROWS: readonly (readonly [name: string, statements: readonly string[], told: RegExp])[] = [
  [
    'NUL in text',
    [petsUpTo(30), `UPDATE pets SET name = 'a' || char(0) || 'b' WHERE id = 17`],
    /pets id 17: unsupported Unicode escape sequence \(\\u0000 cannot be converted to text\.\)/,
  ],
  ['bytes that are no UTF-8', [pet(`17, CAST(x'ff61' AS TEXT), 1, 'sold'`)], /id 17: invalid byte sequence/],
  [
    'text that is too long',
    [pet(`17, '${'🐾'.repeat(256)}', 1, 'sold'`)],
    /id 17: it does not fit name character varying\(255\)/,
  ],
  ['a blob in a column of text', [pet(`17, x'00', 1, 'sold'`)], /id 17: a blob is in a column of text/],
  [
    'a number that its column is too narrow for',
    [`INSERT INTO quota_counts VALUES ('k', 5, 2147483648)`],
    /quota_counts key k window_start 5: value "2147483648" is out of range for type integer/,
  ],
  [
    'NULL where it is not allowed',
    [withoutConstraints('pets'), pet(`17, NULL, 1, 'sold'`)],
    /pets id 17: null value in column "name"/,
  ],
  [
    'a reference to nothing',
    [CLIENT, key('k', 'gone')],
    /constraint "api_keys_of_client" \(Key \(client_id\)=\(gone\) is not present in table "clients"\.\)/,
  ],
  [
    'what is there twice',
    [CLIENT, 'DROP INDEX api_keys_digest', key('1', 'c'), key('2', 'c')],
    /api_keys id 2: duplicate key .* \(Key \(digest\)=\(d\) already exists\.\)/,
  ],
  [
    'what a check does not allow',
    [`PRAGMA ignore_check_constraints = 1; ${pet(`17, 'a', 1, 'lost'`)}`],
    /pets id 17: new row .* violates check constraint "pets_status_allowed"\. Nothing was copied; correct it in the file, then copy\.$/,
  ],
];

/** Sources that do not have what the build knows. */
const SCHEMAS: readonly (readonly [name: string, statements: readonly string[], told: RegExp])[] = [
  [
    'a table that no migration makes',
    ['CREATE TABLE notes (id integer)'],
    /no migration creates the table notes/,
  ],
  ['a table that is missing', ['DROP TABLE key_bans'], /the table key_bans belongs to the service/],
  [
    'migrations that did not run',
    [`DELETE FROM schema_migrations WHERE name LIKE 'OutboxB%'`],
    /lacks migrations \(OutboxBacklog1793491222000\)\. Run "DATABASE_URL=sqlite:.* petstore db migrate"/,
  ],
  [
    'one of a newer version',
    [`INSERT INTO schema_migrations (timestamp, name) VALUES (1999999999999, 'Later1999999999999')`],
    /newer version of the service \(Later1999999999999\)/,
  ],
];

describeWith('postgres', 'a copy to PostgreSQL is refused, and no row copied,', () => {
  let target: CopyTarget;
  beforeAll(async () => void (target = await CopyTarget.make()));
  afterAll(() => target.remove());

  const tables = () =>
    target.rows(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`);

  describe('for', () => {
    it.each([...ROWS, ...SCHEMAS])('%s', async (_, statements, message) => {
      const file = await sourceWith(...statements);
      await expect(target.copy(file)).rejects.toThrow(message);
      expect(await tables()).toEqual([]);
    });
  });

  it('when the file is not there, and makes none', async () => {
    const path = await folderOfTest();
    const file = join(path, 'store.sqlite');
    await expect(target.copy(file)).rejects.toThrow(`${file} does not exist.`);
    expect(await readdir(path)).toEqual([]);
  });

  it('when the file is not an SQLite database', async () => {
    const file = await sourceWith();
    await writeFile(file, 'This is a letter to the shop. '.repeat(100));
    await expect(target.copy(file)).rejects.toThrow(/is not an SQLite database/);
  });

  it('while a process serves the file', async () => {
    const file = await sourceWith();
    const lock = await ServerLock.toServe(file);
    onTestFinished(() => lock.release());
    await expect(target.copy(file)).rejects.toThrow(/A process serves .*Stop the service/);
  });

  it('while an instance is connected', async () => {
    const other = await target.connected('petstore');
    onTestFinished(() => other.end());
    await expect(target.copy(await sourceWith(petsUpTo(1)))).rejects.toThrow(
      /An instance or a command .* is connected/,
    );
    expect(await tables()).toEqual([]);
  });

  it('when another copy into it was first', async () => {
    const both = await CopyTarget.make();
    onTestFinished(() => both.remove());
    const copies = await Promise.allSettled([
      both.copy(await sourceWith(petsUpTo(2_000))),
      both.copy(await sourceWith(petsUpTo(2_000))),
    ]);
    const refused = copies.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(refused).toEqual([
      expect.stringMatching(/already has data|Another copy into .*Wait until it has finished/),
    ]);
    expect(await both.rows('SELECT count(*)::int FROM pets')).toEqual([[2_000]]);
  });
});
