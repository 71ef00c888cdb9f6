import { chmod, chown, copyFile, link, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Connection } from '../sqlite/connection.js';
import { SIDECARS } from '../sqlite/private-files.js';
import { codeOf, fileError, withFileErrors } from '../sqlite/availability/sqlite-errors.js';
import { moveToNewName, temporaryPathFor, syncToDisk } from './temporary-file.js';
import { Refusal } from '../../core/refusal.js';

/** How long to wait for processes that are about to close the file, in milliseconds. */
const LOCK_WAIT_MS = 1_000;
const PERMISSIONS = 0o777;

/** The database file to replace; it may be missing, damaged, or from another program. */
export class DatabaseReplacement {
  private constructor(
    /** With all links resolved. */
    private readonly file: string,
    private readonly exists: boolean,
    /** Holds an exclusive lock on the file; undefined if SQLite cannot read the file. */
    private readonly lock: Connection | undefined,
  ) {}

  /**
   * Locks the file exclusively, after merging and removing the log that a killed process may have left. Throws Refusal while another
   * process has the file open.
   */
  static async lock(file: string): Promise<DatabaseReplacement> {
    const there = await stat(file).catch(() => undefined);
    if (!there) return new DatabaseReplacement(file, false, undefined);
    if (!there.isFile()) throw new Refusal(`${file} is not a file. Set DATABASE_URL to another file.`);
    const connection = await withFileErrors(file, () =>
      Connection.open(file, 'write', { busyTimeoutMs: LOCK_WAIT_MS }),
    );
    try {
      // SQLite turns the log off only if no other process has the file open; it merges the log first.
      await connection.all('PRAGMA journal_mode = DELETE');
      await connection.all('BEGIN EXCLUSIVE');
      return new DatabaseReplacement(file, true, connection);
    } catch (error) {
      await connection.close();
      const code = codeOf(error);
      if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
        return new DatabaseReplacement(file, true, undefined);
      if (code !== 'SQLITE_BUSY') throw fileError(file, error);
      throw new Refusal(
        `Another process has ${file} open ("fuser -v ${file}" shows it). Stop it, then restore.`,
      );
    }
  }

  /** Gives the new file the owner and permissions of the replaced one. */
  async copyOwnerTo(path: string): Promise<void> {
    const { uid, gid, mode } = await stat(this.exists ? this.file : dirname(this.file));
    const created = await stat(path);
    if (created.uid !== uid || created.gid !== gid) await chown(path, uid, gid).catch(() => undefined);
    if (this.exists) await chmod(path, mode & PERMISSIONS);
  }

  /**
   * Keeps the file under a dated name and moves the new one into its place; there is a file with its name at all times. Returns the dated
   * name; undefined if nothing was there. `now` is in ms since the Unix epoch.
   */
  async replaceWith(path: string, now: number): Promise<string | undefined> {
    const [folder, name] = [dirname(this.file), basename(this.file)];
    const there = new Set(await readdir(folder));
    const datedName = `${name}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
    let archived = datedName;
    for (let count = 2; there.has(archived); count += 1) archived = `${datedName}-${count}`;
    const left = SIDECARS.filter((suffix) => there.has(`${name}${suffix}`));
    // Before the new file is in place, or SQLite would apply them to it.
    for (const suffix of left) await rename(`${this.file}${suffix}`, join(folder, `${archived}${suffix}`));
    await syncToDisk(folder);
    if (this.exists) {
      await this.linkAs(join(folder, archived));
      await rename(path, this.file);
    } else
      await moveToNewName(
        path,
        this.file,
        'was created in the meantime. Stop the service and restore again.',
      );
    await syncToDisk(folder);
    return this.exists || left.length > 0 ? join(folder, archived) : undefined;
  }

  async release(): Promise<void> {
    await this.lock?.close();
  }

  /**
   * Creates a second link, because if the name were missing for a moment, a starting service would create an empty database. The file is
   * not opened, because closing it would release the lock.
   */
  private async linkAs(archived: string): Promise<void> {
    await this.removeEarlierLink();
    await link(this.file, archived).catch(async () => {
      // The file system does not support hard links. An incomplete copy never gets the final name.
      const part = temporaryPathFor(archived);
      await copyFile(this.file, part);
      await syncToDisk(part);
      await rename(part, archived);
    });
  }

  /** A restore that was killed at this point left a second link to the same file. */
  private async removeEarlierLink(): Promise<void> {
    const { ino, dev, nlink } = await stat(this.file);
    if (nlink < 2) return;
    const folder = dirname(this.file);
    for (const name of await readdir(folder)) {
      if (!name.startsWith(`${basename(this.file)}.replaced-`)) continue;
      const other = await stat(join(folder, name));
      if (other.ino === ino && other.dev === dev) await rm(join(folder, name));
    }
  }
}
