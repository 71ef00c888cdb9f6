import { type BigIntStats, statSync } from 'node:fs';
import type { ApiError } from '../../../core/errors/api-error.js';
import { Outage } from '../../outage.js';
import { unavailable } from '../../unavailable.js';
import { UnusableDatabase } from './sqlite-errors.js';

/** Interval between checks while nothing is committed, in milliseconds. */
const PERIOD_MS = 500;

/** A file that SQLite has open, and the path by which the next process would open it. */
interface OpenedFile {
  readonly path: string;
  readonly remedy: string;
  readonly stats: BigIntStats;
}

/**
 * Checks that the files that SQLite has open are those that the next process would open, because writes to a removed or replaced file are
 * lost. If they are not, every statement is refused until the files are back or the service restarts.
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

  /** Call it before SQLite opens the file, which may not exist yet. */
  recordBefore(file: string): void {
    this.before = statsOf(file);
  }

  /**
   * Call it after SQLite has read the file, because SQLite then holds a lock that prevents a restore if the file has a write-ahead log.
   * Throws UnusableDatabase if another file got its name in the meantime, because SQLite has the old file open, and would read the new
   * file's log as part of it.
   */
  refuseReplaced(file: string): void {
    if (this.before && !isSame(this.before, statsOf(file)))
      throw new UnusableDatabase(`${file} was replaced while it was being opened. Try again.`);
  }

  /**
   * Starts to watch the files that SQLite has just opened: the target of the configured path, which may be a link, the file as resolved by
   * SQLite, and its write-ahead log if it has one.
   */
  watch(configured: string, resolved: string, hasLog: boolean): void {
    const log = (hasLog ? ['-wal', '-shm'] : []).map((suffix) =>
      opened(`${resolved}${suffix}`, RESTART_GENTLY),
    );
    const paths = [...new Set([configured, resolved])];
    this.opened = [...paths.map((path) => opened(path, RESTART_ON_ANOTHER)), ...log];
    this.timer = setInterval(() => this.check(), PERIOD_MS).unref();
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** Why nothing can be read or written, as of the last check; undefined if the files are intact. */
  get error(): ApiError | undefined {
    return this.outage.reason;
  }

  /** Throws service_unavailable if the last check, at most about half a second ago, found that the files were removed or replaced. */
  refuseIfDamaged(): void {
    if (this.error) throw this.error;
  }

  /** Checks now, and throws service_unavailable if the files were removed or replaced. */
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

  /** The problem with the files, and its remedy. */
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
    // If `stat` cannot read it, the next process could not open it either.
    return undefined;
  }
}
