import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openDataSource } from '../../src/database/data-source.js';
import { migrate } from '../../src/database/schema.js';
import { onFile } from './sqlite-file.js';

/** Statements that add animals numbered from 1. */
export function petsUpTo(count: number): string {
  return `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${count})
    INSERT INTO pets (id, name, category_id, status)
    SELECT id, 'Pet 🐾 ' || id, 9007199254740992 + id,
      CASE id % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'available' ELSE 'pending' END FROM n`;
}

/** A file with the schema of this build, created once per suite, because running the migrations takes longer than most tests. */
let empty: Promise<Buffer> | undefined;

async function migrated(file: string): Promise<Buffer> {
  const database = await openDataSource({ databaseUrl: `sqlite:${file}` });
  await migrate(database);
  await database.destroy();
  return readFile(file);
}

/** A file with the schema of this build and the rows that the statements add. It is removed at the end of the test. */
export async function sourceWith(...statements: readonly string[]): Promise<string> {
  const file = join(tmpdir(), `petstore-copy-${randomUUID()}.sqlite`);
  onTestFinished(async () => {
    for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true });
  });
  await writeFile(file, await (empty ??= migrated(file)));
  await onFile(file, ...statements);
  return file;
}
