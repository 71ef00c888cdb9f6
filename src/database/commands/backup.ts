import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MIGRATIONS_TABLE } from '../data-source.js';
import { LOCK_FILE, SIDECARS, realFileOf } from '../sqlite/private-files.js';
import { isThere } from '../sqlite/read-untouched.js';
import { NAME_ANOTHER, messageOf, namedInShort } from '../sqlite/troubles/sqlite-errors.js';
import { type CopiedStore, copyChecked } from './checked-copy.js';
import { ALREADY_THERE, PartFile } from './part-file.js';
import { Refusal } from '../../core/refusal.js';

/** Options of a backup. */
export interface BackupOrder {
  /** The file of the database. */
  readonly database: string;
  /** The backup. */
  readonly file: string;
  /** Whether it may replace an existing file. */
  readonly overwrite: boolean;
  /** Aborts it without leaving a file. */
  readonly signal: AbortSignal;
}

/**
 * Copies the database, which may be served and written to in the meantime, into one file that gets its name only when it is complete,
 * checked and on disk. Throws Refusal with the reason; then an existing file is unchanged.
 */
export async function backUp({ database, file, overwrite, signal }: BackupOrder): Promise<CopiedStore> {
  if (!(await isThere(database)))
    throw new Refusal(`${database} does not exist. Set DATABASE_URL to the database.`);
  // Another user who may write to the folder could choose where the backup goes.
  if (!(await isThere(file)) && (await hasName(file)))
    throw new Refusal(`${file} is a link to a file that does not exist. Remove it, or name another file.`);
  const final = await realFileOf(file).catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(
      error.code === 'ENOENT'
        ? `The folder ${dirname(file)} does not exist. Create it, or name a file in another folder.`
        : `${file} cannot be used (${messageOf(error)}). Name another file.`,
    );
  });
  await refuseOfStore(database, final);
  const there = await stat(final).catch(() => undefined);
  if (there?.isDirectory())
    throw new Refusal(`${file} is a folder. Name a file in it, such as ${join(file, 'petstore.sqlite')}.`);
  // A rename would replace the device or pipe.
  if (there && !there.isFile()) throw new Refusal(`${file} is not a file. Name another.`);
  if (there && !overwrite) throw new Refusal(`${file} ${ALREADY_THERE}`);
  const part = await PartFile.beside(final);
  try {
    const copied = await copyChecked({ from: database, to: part.path, signal });
    refuseOther(database, copied);
    await part.finish({ overwrite });
    return copied;
  } finally {
    await part.remove();
  }
}

/** The database, and what SQLite and its server have beside it, cannot be a backup; nor can a file beside which there is the log of another. */
async function refuseOfStore(database: string, final: string): Promise<void> {
  const real = await realFileOf(database);
  const [own, there] = [await stat(real), await stat(final).catch(() => undefined)];
  const isOwn = own.ino === there?.ino && own.dev === there.dev;
  if (isOwn || ['', ...SIDECARS, LOCK_FILE].some((end) => final === `${real}${end}`))
    throw new Refusal(
      `${final} is the database itself, or belongs to it. Name another file, best on another disk.`,
    );
  for (const end of ['-wal', '-journal'])
    if (await hasName(`${final}${end}`))
      throw new Refusal(
        `${basename(final)}${end} is beside ${final}, and SQLite would read it as a part of the backup. Remove it, or name another file.`,
      );
}

/** Whether there is anything with this name, if only a link that leads nowhere. */
function hasName(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Refuses the wrong file now: no restore would take its backup. */
function refuseOther(database: string, { tables }: CopiedStore): void {
  if (tables.length === 0)
    throw new Refusal(`${database} is empty: there is nothing to back up. Set DATABASE_URL to the database.`);
  const names = tables.map(({ name }) => name);
  if (!names.includes(MIGRATIONS_TABLE))
    throw new Refusal(
      `${database} is the database of another program (tables ${namedInShort(names)}). ${NAME_ANOTHER}.`,
    );
}
