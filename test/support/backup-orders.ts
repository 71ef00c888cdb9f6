import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupOptions, backUp } from '../../src/database/commands/backup.js';
import { type RestoreOptions, type RestoreResult, restore } from '../../src/database/commands/restore.js';
import type { VerifiedCopy } from '../../src/database/commands/verified-copy.js';
import { sourceWith } from './copy-source.js';
import { folderOfTest } from './service-process.js';

/** The time of all restores. The replaced files have it in their names. */
const NOW = Date.parse('2026-11-22T18:00:00.000Z');
/** About 6 MiB of data. */
export const MANY_ANIMALS = `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 60000)
  INSERT INTO pets (id, name, category_id, status) SELECT id, hex(randomblob(30)), id, 'sold' FROM n`;

/** The statement that adds an animal. */
export function pet(id: number): string {
  return `INSERT INTO pets (id, name, category_id, status) VALUES (${id}, 'Pet ${id}', 1, 'sold')`;
}

/** Creates an SQLite file with these statements executed, alone in its folder. */
export async function storeWith(...statements: readonly string[]): Promise<string> {
  const file = join(await folderOfTest(), 'petstore.sqlite');
  await rename(await sourceWith(...statements), file);
  return file;
}

/** Backs up a store: a new one with one animal, unless `more` names another. */
export async function backUpTo(file: string, more: Partial<BackupOptions> = {}): Promise<VerifiedCopy> {
  const database = more.database ?? (await storeWith(pet(1)));
  const { signal } = new AbortController();
  return backUp({ database, file, overwrite: false, signal, ...more });
}

/** Restores a backup over a store. */
export function restoreFrom(
  file: string,
  database: string,
  more: Partial<RestoreOptions> = {},
): Promise<RestoreResult> {
  const { signal } = new AbortController();
  const options = { file, database, now: NOW, signal };
  return restore({ ...options, ...more });
}
