import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ProcessLockFiles } from '../../src/database/sqlite/process-lock-files.js';
import { onFile, petsUpTo, sourceWith } from '../support/copy-source.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { emptyFolder } from '../support/service-process.js';

const pet = (values: string) => `INSERT INTO pets (id, name, category_id, status) VALUES (${values})`;
const CLIENT = `INSERT INTO clients (id, name, plan, created_at) VALUES ('c', 'Shop', 'pro', '2026-11-22T00:00:00.000Z')`;
const key = (id: string, client: string) =>
  `INSERT INTO api_keys (id, client_id, digest, prefix, scopes, created_at) VALUES ('${id}', '${client}', 'd', 'p', '[]', 't')`;
const withoutConstraints = (table: string) =>
  `PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = '${table}'`;

/** What PostgreSQL would not store, and how it is named. */
const ROWS: readonly (readonly [name: string, statements: readonly string[], told: RegExp])[] = [
  ['NUL in text', [pet(`17, 'a' || char(0) || 'b', 1, 'sold'`)], /pets id 17: name has the character NUL/],
  [
    'bytes that are no UTF-8',
    [pet(`17, CAST(x'ff61' AS TEXT), 1, 'sold'`)],
    /id 17: name is not valid UTF-8/,
  ],
  ['a lone surrogate', [pet(`17, CAST(x'eda080' AS TEXT), 1, 'sold'`)], /id 17: name is not valid UTF-8/],
  [
    'text that is too long',
    [pet(`17, '${'🐾'.repeat(256)}', 1, 'sold'`)],
    /id 17: name has 256 characters, and at most 255/,
  ],
  [
    'text in a column of whole numbers',
    [pet(`17, 'a', 'many', 'sold'`)],
    /id 17: category_id is stored as text \("many"\), not as a whole number/,
  ],
  ['a fraction in one', [pet(`17, 'a', 1.5, 'sold'`)], /id 17: category_id is stored as real \(1\.5\)/],
  ['a blob in a column of text', [pet(`17, x'00ff', 1, 'sold'`)], /id 17: name is stored as blob \(x00FF\)/],
  [
    'a number that its column is too narrow for',
    [`INSERT INTO quota_counts VALUES ('k', 5, 2147483648)`],
    /quota_counts key "k" window_start 5: used is 2147483648, and the column holds -2147483648 to 2147483647/,
  ],
  [
    'NULL where it is not allowed',
    [withoutConstraints('pets'), pet(`17, NULL, 1, 'sold'`)],
    /pets id 17: name is NULL/,
  ],
  [
    'NULL in a key, behind which nothing is found',
    [withoutConstraints('jobs'), `INSERT INTO jobs (due_at, failures) VALUES (1, 0)`],
    /jobs name null: name is NULL[^]*the rows after it/,
  ],
  [
    'a reference to nothing',
    [CLIENT, key('k', 'gone')],
    /api_keys id "k": client_id names "gone", which is not in clients/,
  ],
  [
    'what is there twice',
    [CLIENT, 'DROP INDEX api_keys_digest', key('1', 'c'), key('2', 'c')],
    /api_keys digest "d": is there more than once/,
  ],
  [
    'what a check does not allow',
    [`PRAGMA ignore_check_constraints = 1; ${pet(`17, 'a', 1, 'lost'`)}`],
    /pets id 17: violates pets_status_allowed \(status IN/,
  ],
  [
    'more than can be named',
    [`${petsUpTo(25)}; UPDATE pets SET name = char(0)`],
    /refuse 25 values of .*; no row was copied[^]*id 20: name has the character NUL.*\n {2}… and 5 more$/,
  ],
];

/** Sources that do not have what the build knows. */
const SCHEMAS: readonly (readonly [name: string, statements: readonly string[], told: RegExp])[] = [
  [
    'a table that no migration makes',
    ['CREATE TABLE notes (id integer)'],
    /no migration makes the table notes/,
  ],
  ['a column that none makes', ['ALTER TABLE pets ADD COLUMN colour'], /no migration makes pets\.colour/],
  ['a table that is missing', ['DROP TABLE key_bans'], /the table key_bans belongs to the service/],
  ['a column that is missing', ['ALTER TABLE key_bans DROP COLUMN bans'], /it lacks key_bans\.bans/],
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
  [
    'the tables of another program alone',
    ['DROP TABLE schema_migrations'],
    /is not the database of this service/,
  ],
];

describeWith('postgres', 'a copy to PostgreSQL is refused, and no row copied,', () => {
  let target: CopyTarget;
  beforeAll(async () => void (target = await CopyTarget.make()));
  afterAll(() => target.remove());

  /** Tables with rows. The schema may be there, and the mark that keeps instances from starting. */
  const written = async () => {
    const tables = await target.rows(
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       AND relname NOT LIKE 'schema%'`,
    );
    const found: string[] = [];
    for (const [name] of tables)
      if (name !== 'database_copy' && (await target.rows(`SELECT 1 FROM ${String(name)}`)).length > 0)
        found.push(String(name));
    return found;
  };

  describe('for', () => {
    it.each([...ROWS, ...SCHEMAS])('%s', async (_, statements, told) => {
      const file = await sourceWith(...statements);
      await expect(target.copy(file)).rejects.toThrow(told);
      expect(await written()).toEqual([]);
    });
  });

  it('when the file is not there, and makes none', async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const file = join(path, 'store.sqlite');
    await expect(target.copy(file)).rejects.toThrow(`${file} is not there.`);
    expect(await readdir(path)).toEqual([]);
  });

  it('when the file is none of SQLite', async () => {
    const file = await sourceWith();
    await writeFile(file, 'This is a letter to the shop. '.repeat(100));
    await expect(target.copy(file)).rejects.toThrow(/is not an SQLite database/);
  });

  it('while a process serves the file', async () => {
    const file = await sourceWith();
    const marks = await ProcessLockFiles.of(file);
    await marks.keep();
    onTestFinished(() => marks.remove());
    await expect(target.copy(file)).rejects.toThrow(/A process serves .*Stop the service/);
  });

  it.each([
    [
      'an instance serves it alone',
      `hashtextextended('petstore only server', 0)`,
      'psql',
      /An instance runs on/,
    ],
    ['another copy runs into it', `hashtextextended('petstore copy', 0)`, 'psql', /Another copy runs into/],
    ['an instance is connected', '1', 'petstore', /An instance or a command .* is connected/],
  ])('while %s', async (_, lock, name, told) => {
    const other = await target.connected(name);
    onTestFinished(() => other.end());
    await other.query(`SELECT pg_advisory_lock(${lock})`);
    await expect(target.copy(await sourceWith(petsUpTo(1)))).rejects.toThrow(told);
    expect(await written()).toEqual([]);
  });

  it('when it is to go on, and no copy was begun', async () => {
    const empty = await CopyTarget.make();
    onTestFinished(() => empty.remove());
    const source = await sourceWith(petsUpTo(1));
    await expect(empty.copy(source, { isResumed: true })).rejects.toThrow(
      /^No copy into postgres:.* was begun\. Leave --resume away to copy from the beginning\.$/,
    );
    expect(
      await empty.rows(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`),
    ).toEqual([]);
  });

  it('when the database has data', async () => {
    const source = await sourceWith(petsUpTo(1));
    await onFile(source, `INSERT INTO jobs VALUES ('j', 1, 0)`);
    await target.client.query(`INSERT INTO jobs VALUES ('other', 1, 0)`);
    onTestFinished(async () => void (await target.client.query('DELETE FROM jobs')));
    await expect(target.copy(source)).rejects.toThrow(/has data already \(jobs\)\. Name an empty database/);
    await expect(target.copy(source, { isResumed: true })).rejects.toThrow(
      /has data already \(jobs\), and no copy into it is unfinished\. A copy takes its mark away when both were found the same/,
    );
    expect(await written()).toEqual(['jobs']);
  });
});
