import type { ApiError } from '../../../core/errors/api-error.js';
import { WriteAvailability } from '../../database.js';
import { Outage } from '../../outage.js';
import { unavailable } from '../../unavailable.js';
import type { DatabaseFiles } from './database-files.js';
import { LOCKED, NOT_WRITTEN, STATES, type State, damaged, messageOf, refinedCode } from './sqlite-errors.js';

const DAMAGE = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);
/** Error codes of statements on files that were removed, replaced or truncated. */
const FILE_ERRORS = new Set(['SQLITE_IOERR', 'SQLITE_CANTOPEN', ...DAMAGE]);
/** On a bad disk, some pages are readable and others are not, so reads count as recovered after this time without a failed one. */
const QUIET_MS = 10_000;
/** Minimum wait after which the lock counts as held by another process, in milliseconds; shorter waits were ended by the caller. */
const LOCKED_MS = 1_000;

/** A state, with SQLite's message. */
type Failure = State & { readonly message: string };

/**
 * Failures of an SQLite database, derived from the results of its statements. Moved or replaced files are reported by DatabaseFiles, which
 * is checked before a failure is attributed to the disk.
 */
export class SqliteAvailability extends WriteAvailability {
  /** Writes refused by the disk. A successful write proves little; `probeWrites` ends the outage. */
  readonly writes: Outage<Failure>;
  /** The write lock is held by another process; ends with the next write. */
  readonly lock: Outage<true>;
  private readonly reads: Outage<Failure>;
  /**
   * Damage is permanent, even if later reads succeed, because other damaged pages are found only when they are read. The file is checked at
   * the next startup.
   */
  private readonly damage: Outage<ApiError>;

  /** `file` is the name of the database in the log. */
  constructor(
    private readonly file: string,
    private readonly files: DatabaseFiles,
  ) {
    super();
    this.writes = new Outage({
      startMessage: ({ problem, message, remedy }) =>
        `${file} cannot be written to: ${problem} (${message}). Writes are refused with 503, and reads continue. ${remedy}; ` +
        'the service recovers automatically.',
      endMessage: () => `${file} can be written to again`,
    });
    this.reads = new Outage({
      startMessage: ({ problem, message, remedy }) =>
        `${file} cannot be read: ${problem} (${message}). Requests that need it are refused with 503. ${remedy}; ` +
        'the service recovers automatically.',
      endMessage: () => `No read of ${file} has been refused for ${QUIET_MS / 1_000} s`,
      quietMs: QUIET_MS,
    });
    this.lock = new Outage({
      startMessage: () =>
        `${file} is locked by another process. Writes are refused with 503 after some seconds, and reads continue. ` +
        `"fuser -v ${file}" shows that process. When it exits or releases the lock, the service recovers automatically.`,
      endMessage: (seconds) =>
        `${file} can be written to again, after another process had locked it for ${seconds} s`,
    });
    this.damage = new Outage({
      startMessage: ({ cause }) =>
        `${damaged(file, messageOf(cause))} "petstore doctor" lists the corrupted parts. Requests that need them are refused with 503, and ` +
        '/health/ready returns 503 until the service is restarted.',
    });
  }

  /** Why the database cannot be written to, for clients; undefined while it can. */
  get reason(): string | undefined {
    const details = this.writes.reason;
    return details && `${NOT_WRITTEN}: ${details.problem}`;
  }

  /** Why nothing can be read or written; undefined while something can. */
  get error(): ApiError | undefined {
    return this.files.error ?? this.damage.reason;
  }

  /**
   * Returns service_unavailable for an error of the writing connection that is due to the state of the database; other errors, such as
   * bugs, are returned unchanged. `code` is SQLite's; `since` is the start of the statement, as a value of `performance.now()`.
   */
  writeError(error: unknown, code: string | undefined, since: number): unknown {
    return this.refusal(error, code, (state, details) => {
      if (state !== LOCKED) this.writes.note(details);
      else if (this.lock.reason || performance.now() - since >= LOCKED_MS) this.lock.note(() => true, since);
      else return false;
      return true;
    });
  }

  /** The same for a read-only connection. */
  readError(error: unknown, code: string | undefined): unknown {
    return this.refusal(error, code, (_, details) => Boolean(this.reads.note(details)));
  }

  /** `note` returns whether it was logged. */
  private refusal(
    error: unknown,
    code = '',
    note: (state: State, details: () => Failure) => boolean,
  ): unknown {
    const filesError = FILE_ERRORS.has(code) ? this.files.check() : undefined;
    if (filesError) return filesError;
    if (DAMAGE.has(code))
      return this.damage.note(() => unavailable('the database file is corrupted', error, true));
    const state = STATES[code];
    if (!state) return error;
    const details = (): Failure => ({
      ...(STATES[refinedCode(this.file, code)] ?? state),
      message: messageOf(error),
    });
    return unavailable(state.refusal, error, note(state, details));
  }
}
