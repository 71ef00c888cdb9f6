import { hash } from 'node:crypto';
import { copyFile, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { QueryRunner } from 'typeorm';
import { afterAll, beforeAll, afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { CopyOptions } from '../../src/database/commands/copy.js';
import { TablesModule, tablesBelow } from '../../src/database/tables.module.js';
import { AppModule } from '../../src/root.module.js';
import { petsUpTo, sourceWith } from '../support/copy-source.js';
import { PetsModule } from '../support/pets/pets.module.js';
import { SqliteFile, onFile } from '../support/sqlite-file.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest } from '../support/service-process.js';

/** A table of every type that is copied, which refers to itself, and which no entity knows. */
class Kinds1799900000000 {
  async up(runner: QueryRunner): Promise<void> {
    const [id, blob, instant, uuid] =
      runner.connection.options.type === 'sqlite'
        ? ['integer PRIMARY KEY AUTOINCREMENT', 'blob', 'datetime', 'varchar(36)']
        : ['bigserial PRIMARY KEY', 'bytea', 'timestamptz', 'uuid'];
    await runner.query(
      `CREATE TABLE kinds (id ${id}, parent_id bigint REFERENCES kinds (id), flag boolean, share double precision,
        price numeric(12, 4), bytes ${blob}, at ${instant}, day date, ref ${uuid}, small smallint)`,
    );
    // On both sides: the copy puts the row of the source in the place of the target's.
    await runner.query('INSERT INTO kinds (small) VALUES (1)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE kinds');
  }
}
beforeAll(() =>
  tablesBelow(
    AppModule,
    PetsModule,
    TablesModule.forFeature({ entities: [], migrations: [Kinds1799900000000] }),
  ),
);
afterAll(() => tablesBelow(AppModule, PetsModule));

const KINDS = `DELETE FROM kinds; INSERT INTO kinds VALUES
  (-9223372036854775808, 9223372036854775807, 1, 0.1, 12345678.9012, x'00ff', '2026-11-22 08:30:00.125', '2024-02-29', '7EEB549A-ed17-4d0e-9799-7ee1c945768b', -32768),
  (7, NULL, 0, 1e-300, -0.5, x'', '1969-12-31 23:59:59', NULL, NULL, 32767),
  (8, 7, NULL, -1.7976931348623157e308, 3, NULL, NULL, NULL, NULL, NULL),
  (9223372036854775807, 8, NULL, 3, 0, NULL, NULL, NULL, NULL, NULL)`;
const TEXTS = [
  '',
  ' blanks ',
  '\u0001\u007F\uFFFF',
  `"quoted", {braces} \\ and 'others'`,
  'NULL',
  '🐾'.repeat(255),
];

/** Each file of a folder with a digest of its content. SQLite writes locks and positions of readers into `-shm`. */
async function contents(folder: string): Promise<string[][]> {
  const digest = async (name: string) =>
    name.endsWith('-shm') ? '' : hash('sha256', await readFile(join(folder, name)));
  return Promise.all((await readdir(folder)).toSorted().map(async (name) => [name, await digest(name)]));
}

describeWith('postgres', 'a copy to PostgreSQL', () => {
  let target: CopyTarget;
  beforeEach(async () => void (target = await CopyTarget.make()));
  afterEach(() => target.remove());

  const copy = (file: string, more?: Partial<CopyOptions>) => target.copy(file, more);
  const rows = (sql: string) => target.rows(sql);
  const tablesThere = () => rows(`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`);
  it('keeps every value of every type', async () => {
    const names = TEXTS.map(
      (text, at) => `(${at + 1}, '${text.replaceAll("'", "''")}', -9223372036854775807, 'sold')`,
    );
    const file = await sourceWith(KINDS, `INSERT INTO pets VALUES ${names.join(', ')}`);
    await copy(file);
    expect(await rows('SELECT id::int, name, category_id FROM pets ORDER BY id')).toEqual(
      TEXTS.map((text, at) => [at + 1, text, '-9223372036854775807']),
    );
    const kinds = await rows(
      `SELECT id, parent_id, flag, share, price, encode(bytes, 'hex'), at AT TIME ZONE 'UTC' || '', day::text, ref, small
       FROM kinds ORDER BY id`,
    );
    expect(kinds).toEqual([
      [
        '-9223372036854775808',
        '9223372036854775807',
        true,
        0.1,
        '12345678.9012',
        '00ff',
        '2026-11-22 08:30:00.125',
        '2024-02-29',
        '7eeb549a-ed17-4d0e-9799-7ee1c945768b',
        -32_768,
      ],
      ['7', null, false, 1e-300, '-0.5000', '', '1969-12-31 23:59:59', null, null, 32_767],
      ['8', '7', null, -1.797_693_134_862_315_7e308, '3.0000', null, null, null, null, null],
      ['9223372036854775807', '8', null, 3, '0.0000', null, null, null, null, null],
    ]);
  });

  it('puts foreign keys back, and goes on behind the ids that SQLite has given, those of deleted rows among them', async () => {
    const file = await sourceWith(petsUpTo(10), 'DELETE FROM pets WHERE id > 4', KINDS);
    const { rows: copied, tables } = await copy(file);
    expect(copied).toBe(8);
    expect(tables.filter(({ lastId }) => lastId !== null)).toMatchObject([
      { name: 'kinds', rows: 4, lastId: 9_223_372_036_854_775_807n },
      { name: 'pets', rows: 4, lastId: 10n },
    ]);
    const added = await rows(
      `INSERT INTO pets (name, category_id, status) VALUES ('next', 1, 'sold') RETURNING id`,
    );
    expect(added).toEqual([['11']]);
    expect(await rows(`INSERT INTO jobs VALUES ('j', 1, 0) RETURNING 1`)).toEqual([[1]]);
    await expect(target.client.query('INSERT INTO kinds (parent_id) VALUES (7)')).rejects.toThrow(
      /reached maximum/,
    );
    await expect(target.client.query('INSERT INTO kinds (id, parent_id) VALUES (1, 2)')).rejects.toThrow(
      /foreign key/,
    );
    const keys = await rows(
      `SELECT conname, convalidated FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY 1`,
    );
    expect(keys).toEqual([
      ['api_keys_of_client', true],
      ['kinds_parent_id_fkey', true],
      ['webhook_deliveries_of_endpoint', true],
      ['webhook_deliveries_of_message', true],
      ['webhook_endpoints_of_client', true],
      ['webhook_fan_outs_of_message', true],
      ['webhook_subscriptions_of_endpoint', true],
    ]);
  });

  it('starts again if the previous one was refused for a row, which left nothing', async () => {
    const file = await sourceWith(
      petsUpTo(3),
      'UPDATE kinds SET small = 7',
      `UPDATE pets SET name = char(0)`,
    );
    await expect(copy(file)).rejects.toThrow(/unsupported Unicode escape sequence/);
    expect(await tablesThere()).toEqual([]);
    await onFile(file, `UPDATE pets SET name = 'Corrected'`);
    expect(await copy(file)).toMatchObject({ rows: 4 });
    expect(await rows('SELECT small FROM kinds')).toEqual([[7]]);
  });

  it('has what only the log of a killed service has, and leaves file and log as they were, also when it is refused', async () => {
    const [folder, running] = [await folderOfTest(), await folderOfTest()];
    const file = join(running, 'store.sqlite');
    await copyFile(await sourceWith(petsUpTo(10)), file);
    const writer = await SqliteFile.open(file);
    onTestFinished(() => writer.close());
    await writer.run(`UPDATE pets SET name = 'Late'; CREATE TABLE notes (id)`);
    for (const name of await readdir(running)) await copyFile(join(running, name), join(folder, name));
    const before = await contents(folder);
    expect(before.map(([name]) => name)).toEqual(['store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal']);
    await expect(copy(join(folder, 'store.sqlite'))).rejects.toThrow(/no migration creates the table notes/);
    expect(await contents(folder)).toEqual(before);
    await copy(join(folder, 'store.sqlite'), { excludedTables: ['notes'] });
    expect(await rows(`SELECT to_regclass('notes')`)).toEqual([[null]]);
    expect(await contents(folder)).toEqual(before);
    expect(await rows('SELECT DISTINCT name FROM pets')).toEqual([['Late']]);
  });

  it('copies into the empty schema that a start of the service has made', async () => {
    await target.migrate();
    const file = await sourceWith(petsUpTo(3));
    await expect(copy(file)).rejects.toThrow(/already has data \(kinds\)\. Name an empty database/);
    await target.client.query('DELETE FROM kinds');
    expect(await copy(file)).toMatchObject({ rows: 4 });
    expect(await rows('SELECT small FROM kinds')).toEqual([[1]]);
  });

  it('is refused when the file is written to while it is read', async () => {
    const file = await sourceWith(petsUpTo(300));
    let change: Promise<void> | undefined;
    const report = ({ done }: { done: number }) => {
      if (done > 1) change ??= onFile(file, `INSERT INTO jobs VALUES ('late', 1, 0)`);
    };
    await expect(copy(file, { onProgress: report })).rejects.toThrow(
      /was written to during the copy\. Stop the writer, then copy\.$/,
    );
    await change;
    expect(await tablesThere()).toEqual([]);
  });
});
