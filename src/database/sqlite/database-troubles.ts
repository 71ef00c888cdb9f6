import { WriteTrouble } from '../write-trouble.js';
import { ForeignLock } from './foreign-lock.js';
import { FoundDamage } from './found-damage.js';
import { unavailable } from './unavailable.js';

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
