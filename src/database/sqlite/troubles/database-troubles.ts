import { Logger } from '@nestjs/common';
import type { ApiError } from '../../../core/errors/api-error.js';
import { ReadTrouble, SqliteWriteTrouble } from './access-trouble.js';
import type { DatabaseFiles } from './database-files.js';
import { damaged, messageOf } from './sqlite-errors.js';
import { unavailable } from '../../unavailable.js';
import { ForeignLock } from './write-lock.js';

/** What a client is told, by SQLite's code, of states that pass without a change of the service. */
const PASSING = new Map([
  ['SQLITE_BUSY', 'the database is busy'],
  ['SQLITE_LOCKED', 'the database is busy'],
  ['SQLITE_FULL', 'the database cannot be written to'],
  ['SQLITE_READONLY', 'the database cannot be written to'],
  ['SQLITE_CANTOPEN', 'the database cannot be opened'],
  ['SQLITE_IOERR', 'the database cannot be read or written'],
]);
const BUSY = new Set<string | undefined>(['SQLITE_BUSY', 'SQLITE_LOCKED']);
const DAMAGE = new Set<string | undefined>(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);
/** What statements meet in files that were removed, replaced or cut. */
const OF_FILES = new Set<string | undefined>(['SQLITE_IOERR', 'SQLITE_CANTOPEN', ...DAMAGE]);

/**
 * What is wrong with an SQLite database, as the results of its statements show. There are three connections (one that writes, two
 * that only read) and four kinds of trouble: writes that the disk refuses, a lock held by another process, reads that are refused,
 * and damage. Each is logged once when it begins and once when it is over, not for every refused request. Files that were moved,
 * replaced or cut are the fifth kind: DatabaseFiles tells of them, and is asked before a failure is put down to the disk.
 */
export class DatabaseTroubles {
  /** Whether, and why, writes are refused. */
  readonly writes: SqliteWriteTrouble;
  /** Whether reads are refused. */
  readonly reads: ReadTrouble;
  /** Whether another process holds the write lock. */
  readonly lock: ForeignLock;
  /** Whether the file is damaged. */
  readonly damage: FoundDamage;

  /** `file` is how the log calls the database. */
  constructor(
    file: string,
    private readonly files: DatabaseFiles,
  ) {
    this.writes = new SqliteWriteTrouble(file);
    this.reads = new ReadTrouble(file);
    this.lock = new ForeignLock(file);
    this.damage = new FoundDamage(file);
  }

  /**
   * Returns service_unavailable for the error of a statement on the connection that writes, if it is a state of the database; a
   * defect of the service is returned as it is. `code` is SQLite's; `since` is when the statement began, by `performance.now()`.
   */
  ofWriter(error: unknown, code: string | undefined, since: number): unknown {
    return this.refusal(error, code, () =>
      BUSY.has(code) ? this.lock.note(since) : this.writes.note(code, error),
    );
  }

  /** The same for a connection that only reads. */
  ofReader(error: unknown, code: string | undefined): unknown {
    return this.refusal(error, code, () => this.reads.note(code, error));
  }

  private refusal(error: unknown, code: string | undefined, isLogged: () => boolean): unknown {
    const ofFiles = OF_FILES.has(code) ? this.files.look() : undefined;
    if (ofFiles) return ofFiles;
    if (DAMAGE.has(code)) return this.damage.note(error);
    const reason = PASSING.get(code ?? '');
    return reason === undefined ? error : unavailable(reason, error, isLogged());
  }
}

/**
 * Damage that SQLite found in the file while the service ran. It counts until the process ends, even if later reads succeed: other
 * damaged pages show only when they are read. The next start checks the file.
 */
export class FoundDamage {
  private readonly logger = new Logger('Database');
  private refusal: ApiError | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Why the service reports that it is not ready; undefined while no damage was found. */
  get fault(): ApiError | undefined {
    return this.refusal;
  }

  /** Notes what SQLite reported, and logs the first report; returns the error for the statement that found it. */
  note(error: unknown): ApiError {
    if (!this.refusal) {
      this.logger.error(
        `${damaged(this.file, messageOf(error))} "petstore doctor" shows the damage. What meets it is refused with 503, and ` +
          '/health/ready is 503 until the service is started again.',
      );
    }
    this.refusal ??= unavailable('the database file is damaged', error, true);
    return this.refusal;
  }
}
