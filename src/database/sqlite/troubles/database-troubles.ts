import { Logger } from '@nestjs/common';
import type { ApiError } from '../../../errors/api-error.js';
import { damaged, unavailable } from './sqlite-errors.js';
import { ForeignLock } from './write-lock.js';

/** What SQLite says of a state that passes without a change of the service, by its code, and what a client is told. */
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

/** What is wrong with a database as its statements show it; the log is told of each trouble once, and of its end. */
export class DatabaseTroubles {
  /** Why nothing can be written. */
  readonly writes: WriteTrouble;
  /** Whether another process keeps the write lock. */
  readonly lock: ForeignLock;
  /** Whether the file is damaged. */
  readonly damage: FoundDamage;

  /** `file` is how the log calls the database. */
  constructor(file: string) {
    this.writes = new WriteTrouble(file);
    this.lock = new ForeignLock(file);
    this.damage = new FoundDamage(file);
  }

  /**
   * Turns the error of a statement on the connection that writes into service_unavailable when it is a state of the database,
   * not a defect; `code` is SQLite's, `since` when the statement began, on the clock of `performance`.
   */
  ofWriter(error: unknown, code: string | undefined, since: number): unknown {
    return this.refusal(error, code, () =>
      BUSY.has(code) ? this.lock.note(since) : this.writes.note(code, error),
    );
  }

  /** The same for a connection that only reads. */
  ofReader(error: unknown, code: string | undefined): unknown {
    return this.refusal(error, code, () => false);
  }

  private refusal(error: unknown, code: string | undefined, isTold: () => boolean): unknown {
    if (DAMAGE.has(code)) return this.damage.note(error);
    const reason = PASSING.get(code ?? '');
    return reason === undefined ? error : unavailable(reason, error, isTold());
  }
}

/** What is wrong, in words that complete "cannot be written: …", and what to do, by SQLite's code. */
const TROUBLES: Readonly<Record<string, readonly [trouble: string, remedy: string]>> = {
  SQLITE_FULL: ['the disk is full', 'Make room on it'],
  SQLITE_IOERR: ['the disk fails', 'Look after it'],
  SQLITE_READONLY: ['it is read-only', 'Let the service write it'],
  SQLITE_CANTOPEN: ['it cannot be opened', 'Look after its folder and the number of open files'],
};

/**
 * Whether the database can be written. The log is told of every change and not of every refused write: a full disk refuses
 * thousands.
 */
export class WriteTrouble {
  private readonly logger = new Logger('Database');
  private code: string | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Why nothing can be written at the moment, for a client; undefined while it can. */
  get reason(): string | undefined {
    const [trouble] = this.told ?? [];
    return trouble && `the database cannot be written to: ${trouble}`;
  }

  /** SQLite's code of what is wrong. */
  get current(): string | undefined {
    return this.code;
  }

  /** Notes what SQLite said; answers whether it is such trouble, and so told already. */
  note(code: string | undefined, error: unknown): boolean {
    const told = TROUBLES[code ?? ''];
    if (!told) return false;
    if (this.code === undefined) {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.error(
        `${this.file} cannot be written: ${told[0]} (${reason}). ` +
          `Writes are refused with 503, reads go on. ${told[1]}; the service goes on by itself.`,
      );
    }
    this.code = code;
    return true;
  }

  /** Notes that it can be written again. */
  end(): void {
    if (this.code === undefined) return;
    this.code = undefined;
    this.logger.log(`${this.file} is written again`);
  }

  private get told(): readonly [trouble: string, remedy: string] | undefined {
    return TROUBLES[this.code ?? ''];
  }
}

/**
 * Damage that SQLite met in the file while the service ran. It stays until the process ends: what else is damaged shows only
 * where it is read, and the next start looks for it.
 */
export class FoundDamage {
  private readonly logger = new Logger('Database');
  private refusal: ApiError | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Why the service is not to be sent requests any more; undefined while no damage was met. */
  get fault(): ApiError | undefined {
    return this.refusal;
  }

  /** Notes what SQLite said, which the log is told once; answers the refusal of the statement that met it. */
  note(error: unknown): ApiError {
    if (!this.refusal) {
      const found = error instanceof Error ? error.message : String(error);
      this.logger.error(
        `${damaged(this.file, found)} "petstore doctor" shows the damage. What meets it is refused with 503, and ` +
          '/health/ready is 503 until the service is started again.',
      );
    }
    this.refusal ??= unavailable('the database file is damaged', error, true);
    return this.refusal;
  }
}
