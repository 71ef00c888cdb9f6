import { chmod, chown, copyFile, link, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Connection } from '../sqlite/connection.js';
import { SIDECARS } from '../sqlite/private-files.js';
import { codeOf, named, naming } from '../sqlite/troubles/sqlite-errors.js';
import { giveName, partOf, synced } from './part-file.js';
import { Refusal } from '../../core/refusal.js';

/** How long to wait for processes that are about to close the file, in milliseconds. */
const LOCK_WAIT_MS = 1_000;
const PERMISSIONS = 0o777;

/** The file of a database that is to be replaced; it may be missing, damaged, or of another program. */
export class ReplacedStore {
  private constructor(
    /** With all links resolved. */
    private readonly file: string,
    private readonly isThere: boolean,
    /** Holds the lock by which nobody else reads or writes the file; undefined where SQLite cannot read it. */
    private readonly lock: Connection | undefined,
  ) {}

  /**
   * Locks the file exclusively. The log that a killed process has left beside it is written into it, and then
   * removed. Throws Refusal while another process has it open.
   */
  static async take(file: string): Promise<ReplacedStore> {
    const there = await stat(file).catch(() => undefined);
    if (!there) return new ReplacedStore(file, false, undefined);
    if (!there.isFile()) throw new Refusal(`${file} is not a file. Name another with DATABASE_URL.`);
    const connection = await naming(file, () =>
      Connection.open(file, 'write', { busyTimeoutMs: LOCK_WAIT_MS }),
    );
    try {
      // SQLite turns the log off only for one that nobody else has open, and has written all of it into the file then.
      await connection.all('PRAGMA journal_mode = DELETE');
      await connection.all('BEGIN EXCLUSIVE');
      return new ReplacedStore(file, true, connection);
    } catch (error) {
      await connection.close();
      const code = codeOf(error);
      if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
        return new ReplacedStore(file, true, undefined);
      if (code !== 'SQLITE_BUSY') throw named(file, error);
      throw new Refusal(
        `Another process has ${file} open ("fuser -v ${file}" shows it). Stop it, then restore.`,
      );
    }
  }

  /** Gives the new file the owner and the permissions of the one whose place it takes. */
  async giveOwner(path: string): Promise<void> {
    const { uid, gid, mode } = await stat(this.isThere ? this.file : dirname(this.file));
    const made = await stat(path);
    if (made.uid !== uid || made.gid !== gid) await chown(path, uid, gid).catch(() => undefined);
    if (this.isThere) await chmod(path, mode & PERMISSIONS);
  }

  /**
   * Keeps the file under a dated name and puts the new one into its place, so that at every moment one of both has its name.
   * Returns the dated name; undefined when there was nothing to keep. `now` is in ms since the Unix epoch.
   */
  async replaceBy(path: string, now: number): Promise<string | undefined> {
    const [folder, name] = [dirname(this.file), basename(this.file)];
    const there = new Set(await readdir(folder));
    const dated = `${name}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
    let kept = dated;
    for (let count = 2; there.has(kept); count += 1) kept = `${dated}-${count}`;
    const left = SIDECARS.filter((end) => there.has(`${name}${end}`));
    // Before the new file is there: SQLite would read them as a part of it.
    for (const end of left) await rename(`${this.file}${end}`, join(folder, `${kept}${end}`));
    await synced(folder);
    if (this.isThere) {
      await this.keepAs(join(folder, kept));
      await rename(path, this.file);
    } else
      await giveName(path, this.file, 'was created in the meantime. Stop the service and restore again.');
    await synced(folder);
    return this.isThere || left.length > 0 ? join(folder, kept) : undefined;
  }

  /** Releases the file. */
  async release(): Promise<void> {
    await this.lock?.close();
  }

  /**
   * A second name, so that the first one is never missing: a service that starts then would make an empty store. The file is not
   * opened, because closing it would end the lock.
   */
  private async keepAs(kept: string): Promise<void> {
    await this.forgetEarlierName();
    await link(this.file, kept).catch(async () => {
      // A file system without links. An incomplete copy never has the final name.
      const part = partOf(kept);
      await copyFile(this.file, part);
      await synced(part);
      await rename(part, kept);
    });
  }

  /** A restore that was killed here has left a second link to this same file, which is not the replaced database. */
  private async forgetEarlierName(): Promise<void> {
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
