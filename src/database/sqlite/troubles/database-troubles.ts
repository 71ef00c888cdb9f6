import { Logger } from '@nestjs/common';
import type { ApiError } from '../../../errors/api-error.js';
import { damaged, truerCode, unavailable } from './sqlite-errors.js';
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
  /** Whether reads are refused. */
  readonly reads: ReadTrouble;
  /** Whether another process keeps the write lock. */
  readonly lock: ForeignLock;
  /** Whether the file is damaged. */
  readonly damage: FoundDamage;

  /** `file` is how the log calls the database. */
  constructor(file: string) {
    this.writes = new WriteTrouble(file);
    this.reads = new ReadTrouble(file);
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
    return this.refusal(error, code, () => this.reads.note(code, error));
  }

  private refusal(error: unknown, code: string | undefined, isTold: () => boolean): unknown {
    if (DAMAGE.has(code)) return this.damage.note(error);
    const reason = PASSING.get(code ?? '');
    return reason === undefined ? error : unavailable(reason, error, isTold());
  }
}

type Told = readonly [trouble: string, remedy: string];

/** What is wrong, in words that complete "cannot be written: …", and what to do, by SQLite's code. */
const TROUBLES: Readonly<Record<string, Told>> = {
  SQLITE_FULL: ['the disk is full', 'Make room on it'],
  SQLITE_IOERR: ['the disk fails', 'Look after it'],
  SQLITE_READONLY: ['it is read-only', 'Let the service write it'],
  SQLITE_CANTOPEN: ['it cannot be opened', 'Look after its folder and the number of open files'],
};
const LOCKED: Told = [
  'it is locked, by another process or a long write',
  'Let what has it locked end ("fuser -v" with the file shows the processes)',
];
/** The same of reads, for which there is no other wait for a lock. */
const READ_TROUBLES: Readonly<Record<string, Told>> = {
  ...TROUBLES,
  SQLITE_BUSY: LOCKED,
  SQLITE_LOCKED: LOCKED,
};
/** After so long without a refused read the trouble counts as over, in milliseconds: of a bad disk only some reads fail. */
const QUIET_MS = 10_000;

/**
 * Whether the database can be written. The log is told of every change and not of every refused write: a full disk refuses
 * thousands.
 */
export class WriteTrouble {
  private readonly logger = new Logger('Database');
  private code: string | undefined;
  /** What SQLite said last, which may tell less than `code`. */
  private said: string | undefined;

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
    if (code === undefined || !TROUBLES[code]) return false;
    const isNew = this.code === undefined;
    // Asking for the free room of the disk takes a system call, which not each of thousands of refused writes makes.
    if (isNew || code !== this.said) this.code = truerCode(this.file, code);
    this.said = code;
    if (isNew && this.told)
      this.logger.error(
        `${this.file} cannot be written: ${this.told[0]} (${messageOf(error)}). ` +
          `Writes are refused with 503, reads go on. ${this.told[1]}; the service goes on by itself.`,
      );
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
 * Whether the connections that only read are refused what they ask for. The log is told when that begins, and when no read has
 * been refused for a while.
 */
export class ReadTrouble {
  private readonly logger = new Logger('Database');
  private quiet: NodeJS.Timeout | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Notes what SQLite said; answers whether it is such trouble, and so told already. */
  note(code: string | undefined, error: unknown): boolean {
    if (code === undefined || !READ_TROUBLES[code]) return false;
    if (this.quiet) {
      this.quiet.refresh();
      return true;
    }
    const [trouble, remedy] = READ_TROUBLES[truerCode(this.file, code)] ?? LOCKED;
    this.logger.error(
      `${this.file} cannot be read: ${trouble} (${messageOf(error)}). ` +
        `Requests that meet this are refused with 503. ${remedy}; the service goes on by itself.`,
    );
    this.quiet = setTimeout(() => {
      this.quiet = undefined;
      this.logger.log(`No read of ${this.file} has been refused for ${QUIET_MS / 1_000} s`);
    }, QUIET_MS);
    // The timer alone must not keep the process running.
    this.quiet.unref();
    return true;
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
      this.logger.error(
        `${damaged(this.file, messageOf(error))} "petstore doctor" shows the damage. What meets it is refused with 503, and ` +
          '/health/ready is 503 until the service is started again.',
      );
    }
    this.refusal ??= unavailable('the database file is damaged', error, true);
    return this.refusal;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
