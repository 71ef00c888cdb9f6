import { type BigIntStats, statSync } from 'node:fs';
import type { ApiError } from '../../../core/errors/api-error.js';
import { Outage } from '../../outage.js';
import { unavailable } from '../../unavailable.js';
import { UnusableDatabase } from './sqlite-errors.js';

/** How often the files are checked while nothing is committed, in milliseconds. */
const PERIOD_MS = 500;

/** A file that SQLite has open, and the path under which the next process would open it. */
interface OpenedFile {
  readonly path: string;
  readonly remedy: string;
  readonly stats: BigIntStats;
}

/**
 * Watches that the files that SQLite has open are still those that the next process would open, because what is written to a file
 * that was removed or replaced is lost. If they are not, every statement is refused until they are back or the service restarts.
 */
export class DatabaseFiles {
  private opened: readonly OpenedFile[] = [];
  private readonly outage = new Outage<ApiError>({
    startMessage: ({ cause }) => String(cause),
    endMessage: () => 'The files of the database are back; reads and writes continue.',
  });
  private timer: NodeJS.Timeout | undefined;
  /** The file as it was before SQLite opened it. */
  private before: BigIntStats | undefined;

  /** To be called before SQLite opens the file, which need not be there yet. */
  recordBefore(file: string): void {
    this.before = statsOf(file);
  }

  /**
   * To be called once SQLite has read the file: with a write-ahead log it then holds a lock that keeps out a restore. Throws
   * UnusableDatabase when another file got its name in the meantime: SQLite has the old one open, whose log would be read as a part of the new.
   */
  refuseReplaced(file: string): void {
    if (this.before && !isSame(this.before, statsOf(file)))
      throw new UnusableDatabase(`${file} was replaced while it was being opened. Try again.`);
  }

  /**
   * Starts to watch the files that SQLite has just opened: what the configured path leads to, which may be a link, the file as SQLite has
   * resolved it, and its write-ahead log if it has one.
   */
  watch(configured: string, resolved: string, hasLog: boolean): void {
    const log = (hasLog ? ['-wal', '-shm'] : []).map((suffix) =>
      opened(`${resolved}${suffix}`, RESTART_GENTLY),
    );
    const paths = [...new Set([configured, resolved])];
    this.opened = [...paths.map((path) => opened(path, RESTART_ON_ANOTHER)), ...log];
    this.timer = setInterval(() => this.check(), PERIOD_MS).unref();
  }

  /** Stops watching. */
  end(): void {
    clearInterval(this.timer);
  }

  /** Why nothing can be read or written, as of the last check; undefined while the files are as they should be. */
  get error(): ApiError | undefined {
    return this.outage.reason;
  }

  /** Throws service_unavailable if the last check, at most about half a second ago, found other files than the opened ones. */
  refuseIfDamaged(): void {
    if (this.error) throw this.error;
  }

  /** Checks now, and throws service_unavailable if the files are not the opened ones. */
  confirm(): void {
    this.check();
    this.refuseIfDamaged();
  }

  /** Checks now, and returns why nothing can be read or written. */
  check(): ApiError | undefined {
    const damage = this.findDamage();
    if (damage === undefined) this.outage.end();
    else this.outage.note(() => unavailable('the database file was removed or replaced', damage, true));
    return this.error;
  }

  /** The fault of the files, and its remedy. */
  private findDamage(): string | undefined {
    for (const { path, stats, remedy } of this.opened) {
      const now = statsOf(path);
      if (!isSame(stats, now))
        return `${path} was ${now ? 'replaced' : 'removed'}. Reads and writes are refused with 503. ${remedy}`;
    }
    return undefined;
  }
}

const RESTART_ON_ANOTHER =
  'Put the file back. Alternatively, stop the service, remove the -wal and -shm files, which belong to the old file, and start the ' +
  'service with the new file.';
const RESTART_GENTLY =
  'Put the file back. Alternatively, stop the service with SIGTERM, which saves all committed data, and start it again.';
function opened(path: string, remedy: string): OpenedFile {
  const stats = statsOf(path);
  if (!stats) throw new Error(`${path} was removed while it was being opened.`);
  return { path, remedy, stats };
}

function isSame({ ino, dev }: BigIntStats, now: BigIntStats | undefined): boolean {
  return now?.ino === ino && now.dev === dev;
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // What cannot be read by `stat` could not be opened by the next process either.
    return undefined;
  }
}
