import { execFile } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Span } from './admission.js';
import { clientWithKey, petstoreHere as petstore } from '../petstore-here.js';
import { emptyFolder } from '../service-process.js';
import { SqliteFile, rowsOf } from '../sqlite-file.js';

const run = promisify(execFile);

/** Minute limit of the client that overdraws. */
export const SMALL_LIMIT = 200;

/** A folder with a database, and what is done to the file system and to the database behind the service's back. */
export class StoreFolder {
  /** Spans in which nothing could be written. */
  readonly blocked: Span[] = [];

  private constructor(
    readonly path: string,
    /** Key of a client without worries about its quota, which administrates too. */
    readonly key: string,
    /** Key, with its id, of a client with `SMALL_LIMIT` requests a minute. */
    readonly small: { readonly id: string; readonly key: string },
    private readonly mounted: boolean,
    private readonly remove: () => Promise<void>,
  ) {}

  /** Makes the folder, on a small file system of its own where that may be mounted, with its clients and keys. */
  static async make(): Promise<StoreFolder> {
    const { path, remove } = await emptyFolder();
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', path]).then(
      () => true,
      () => false,
    );
    const issue = (perMinute: number, scopes: string) =>
      clientWithKey(
        path,
        {},
        `--plan enterprise --per-minute ${perMinute} --per-day 100000000 --scopes ${scopes}`.split(' '),
      );
    await petstore(path, ['db', 'seed', '--count', '20']);
    const { key } = await issue(10_000_000, 'pets:read,pets:write,admin');
    const small = await issue(SMALL_LIMIT, 'pets:read');
    return new StoreFolder(path, key, small, mounted, remove);
  }

  /** Where the database is. */
  get file(): string {
    return join(this.path, 'data/petstore.sqlite');
  }

  /** Fills the file system to the last byte for a while, in milliseconds; only one of its own. */
  async fill(ms: number): Promise<void> {
    if (!this.mounted) return;
    const from = performance.now();
    const ballast = join(this.path, 'ballast');
    const file = await open(ballast, 'w');
    try {
      for (const size of [65_536, 4_096, 1])
        for (;;) {
          const written = await file.write(Buffer.alloc(size)).catch(() => undefined);
          if (!written) break;
        }
      await pause(ms);
    } finally {
      await file.close();
      await rm(ballast);
      this.blocked.push({ from, to: performance.now() });
    }
  }

  /** Holds the write lock for a while, in milliseconds, as another program does. */
  async lock(ms: number): Promise<void> {
    const from = performance.now();
    const database = await SqliteFile.open(this.file);
    await database.run('PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE');
    await pause(ms);
    await database.run('ROLLBACK');
    await database.close();
    this.blocked.push({ from, to: performance.now() });
  }

  /** What SQLite itself says of the file: `ok`. */
  async integrity(): Promise<string> {
    const [row] = await rowsOf<{ integrity_check: string }>(this.file, 'PRAGMA integrity_check');
    return row?.integrity_check ?? '';
  }

  /** Removes it all. */
  async end(): Promise<void> {
    if (this.mounted) await run('umount', ['-l', this.path]);
    await this.remove();
  }
}
