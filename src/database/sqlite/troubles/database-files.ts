import { type BigIntStats, statSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import type { ApiError } from '../../../core/errors/api-error.js';
import type { WalIndex } from '../wal-index.js';
import { unavailable } from '../../unavailable.js';
import { ContentWatch } from './content-watch.js';

/** How often the files are checked while nothing is committed, in milliseconds. */
const PERIOD_MS = 500;

/** What is wrong with the files, and what an operator should do. */
interface Damage {
  readonly what: string;
  readonly remedy: string;
  /** Whether closing them would make SQLite write into a file that is not its own, or crash the process. */
  readonly forbidsClosing: boolean;
}

/** A file that SQLite has open, and the path under which the next process would open it. */
interface OpenedFile {
  readonly path: string;
  readonly remedy: string;
  readonly stats: BigIntStats;
}

const logger = new Logger('Database');

/** The paths of the files, as SQLite has resolved them. */
export interface FilePaths {
  /** The path as configured, which may be a symbolic link. */
  readonly configured: string;
  /** The target of the link: SQLite creates `-wal` and `-shm` beside this. */
  readonly resolved: string;
  /** Its WAL index; undefined where there is no write-ahead log. */
  readonly index: WalIndex | undefined;
}

/**
 * Watches that the files that SQLite has open are still those that the next process would open, because what is written to a file
 * that was removed or replaced is lost. If they are not, every statement is refused until they are back or the service restarts.
 */
export class DatabaseFiles {
  private opened: readonly OpenedFile[] = [];
  private content: ContentWatch | undefined;
  private damage: Damage | undefined;
  private refusal: ApiError | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** Starts to watch the files that SQLite has just opened. */
  watch({ configured, resolved, index }: FilePaths): void {
    const log = index
      ? [opened(`${resolved}-wal`, RESTART_GENTLY), opened(`${resolved}-shm`, RESTART_GENTLY)]
      : [];
    const paths = [...new Set([configured, resolved])];
    this.opened = [...paths.map((path) => opened(path, RESTART_ON_ANOTHER)), ...log];
    this.content = index && new ContentWatch(resolved, index);
    this.timer = setInterval(() => this.look(), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }

  /** Stops watching. */
  end(): void {
    clearInterval(this.timer);
  }

  /** Why nothing can be read or written, as of the last check; undefined while the files are as they should be. */
  get fault(): ApiError | undefined {
    return this.refusal;
  }

  /** Whether SQLite may close the files, which copies the write-ahead log into the database. */
  get mayBeClosed(): boolean {
    return !this.damage?.forbidsClosing;
  }

  /** Throws service_unavailable if the last check, at most about half a second ago, found other files than the opened ones. */
  refuseIfDamaged(): void {
    if (this.refusal) throw this.refusal;
  }

  /** Checks now, and throws service_unavailable if the files are not the opened ones. */
  confirm(): void {
    this.look();
    this.refuseIfDamaged();
  }

  /** Checks now, and answers why nothing can be read or written. */
  look(): ApiError | undefined {
    const was = this.damage;
    // A file that was overwritten stays damaged, even if it is overwritten again.
    this.damage = was?.forbidsClosing ? was : this.damageNow();
    this.refusal =
      this.damage &&
      (this.refusal ?? unavailable('the database file was removed or replaced', undefined, true));
    if (this.damage && !was)
      logger.error(`${this.damage.what}. Nothing is read or written any more. ${this.damage.remedy}`);
    if (was && !this.damage)
      logger.log('The files of the database are back, and it is read and written again.');
    return this.refusal;
  }

  private damageNow(): Damage | undefined {
    const sizes: bigint[] = [];
    for (const { path, stats, remedy } of this.opened) {
      const now = statsOf(path);
      if (now?.ino !== stats.ino || now.dev !== stats.dev)
        return { what: `${path} was ${now ? 'replaced' : 'removed'}`, remedy, forbidsClosing: false };
      sizes.push(now.size);
    }
    const [logBytes = 0n, indexBytes = 0n] = sizes.slice(-2);
    const what = this.content?.fault(logBytes, indexBytes);
    return what === undefined ? undefined : { what, remedy: RESTORE, forbidsClosing: true };
  }
}

const RESTART_ON_ANOTHER =
  'Put the file back; or stop the service, remove the -wal and -shm files, which belong to the old file, and start the ' +
  'service with what is there now.';
const RESTART_GENTLY =
  'Put the file back; or stop the service with SIGTERM, which saves what was committed, and start it again.';
const RESTORE =
  'Stop the service, and start it again; if a backup was copied over the file, put it there with "petstore db restore <backup>" in ' +
  'between, which takes the -wal and -shm files of the old one away.';

function opened(path: string, remedy: string): OpenedFile {
  const stats = statsOf(path);
  if (!stats) throw new Error(`${path} was removed while it was being opened.`);
  return { path, remedy, stats };
}

function statsOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // What cannot be read by `stat` could not be opened by the next process either.
    return undefined;
  }
}
