import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MIGRATIONS_TABLE } from '../data-source.js';
import { LOCK_FILE, SIDECARS, realFileOf } from '../sqlite/private-files.js';
import { exists } from '../sqlite/read-only-file.js';
import { NAME_ANOTHER, messageOf, shortList } from '../sqlite/availability/sqlite-errors.js';
import { type VerifiedCopy, copyAndVerify } from './verified-copy.js';
import { ALREADY_EXISTS, TemporaryFile } from './temporary-file.js';
import { Refusal } from '../../core/refusal.js';

/** Options of a backup. */
export interface BackupOptions {
  readonly database: string;
  readonly file: string;
  /** Whether it may replace an existing file. */
  readonly overwrite: boolean;
  /** Aborts it without leaving a file. */
  readonly signal: AbortSignal;
}

/**
 * Copies the database, even while it is in use, into a single file, which gets its final name only after it was checked and synced to disk.
 * Throws Refusal with the reason; an existing file is then unchanged.
 */
export async function backUp({ database, file, overwrite, signal }: BackupOptions): Promise<VerifiedCopy> {
  if (!(await exists(database)))
    throw new Refusal(`${database} does not exist. Set DATABASE_URL to the database.`);
  // Another user who may write to the folder could choose where the backup goes.
  if (!(await exists(file)) && (await isNameTaken(file)))
    throw new Refusal(
      `${file} is a symbolic link to a file that does not exist. Remove it, or choose another file.`,
    );
  const final = await realFileOf(file).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(
      error.code === 'ENOENT'
        ? `The folder ${dirname(file)} does not exist. Create it, or choose another folder.`
        : `${file} cannot be used (${messageOf(error)}). Name another file.`,
    );
  });
  await refuseOwnFiles(database, final);
  const existing = await stat(final).catch(() => undefined);
  if (existing?.isDirectory())
    throw new Refusal(`${file} is a folder. Name a file in it, such as ${join(file, 'petstore.sqlite')}.`);
  // A rename would replace the device or pipe.
  if (existing && !existing.isFile()) throw new Refusal(`${file} is not a file. Name another file.`);
  if (existing && !overwrite) throw new Refusal(`${file} ${ALREADY_EXISTS}`);
  const part = await TemporaryFile.create(final);
  try {
    const copied = await copyAndVerify({ from: database, to: part.path, signal });
    refuseForeign(database, copied);
    await part.finish({ overwrite });
    return copied;
  } finally {
    await part.remove();
  }
}

/** A backup must not overwrite the database or its sidecar files, nor be written next to the log of another database. */
async function refuseOwnFiles(database: string, final: string): Promise<void> {
  const real = await realFileOf(database);
  const [source, existing] = [await stat(real), await stat(final).catch(() => undefined)];
  const isSource = source.ino === existing?.ino && source.dev === existing.dev;
  if (isSource || ['', ...SIDECARS, LOCK_FILE].some((suffix) => final === `${real}${suffix}`))
    throw new Refusal(
      `${final} is the database itself or one of its files. Choose another file, preferably on another disk.`,
    );
  for (const suffix of ['-wal', '-journal'])
    if (await isNameTaken(`${final}${suffix}`))
      throw new Refusal(
        `${basename(final)}${suffix} is next to ${final}, and SQLite would treat it as part of the backup. Remove it, or choose another file.`,
      );
}

/** Whether the name is taken, even by a broken link. */
function isNameTaken(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Refuses a file that could not be restored later. */
function refuseForeign(database: string, { tables }: VerifiedCopy): void {
  if (tables.length === 0)
    throw new Refusal(
      `${database} is empty, so there is nothing to back up. Set DATABASE_URL to the database.`,
    );
  const names = tables.map(({ name }) => name);
  if (!names.includes(MIGRATIONS_TABLE))
    throw new Refusal(
      `${database} is the database of another program (tables ${shortList(names)}). ${NAME_ANOTHER}.`,
    );
}
