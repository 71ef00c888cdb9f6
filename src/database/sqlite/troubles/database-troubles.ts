import type { ApiError } from '../../../core/errors/api-error.js';
import { WriteTrouble } from '../../database.js';
import { Outage } from '../../outage.js';
import { unavailable } from '../../unavailable.js';
import type { DatabaseFiles } from './database-files.js';
import { LOCKED, NOT_WRITTEN, STATES, type State, damaged, messageOf, refinedCode } from './sqlite-errors.js';

const DAMAGE = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);
/** Errors of statements on files that were removed, replaced or truncated. */
const FILE_ERRORS = new Set(['SQLITE_IOERR', 'SQLITE_CANTOPEN', ...DAMAGE]);
/** On a bad disk reads of some pages succeed and of others fail: reads count as recovered after this time without a refused one. */
const QUIET_MS = 10_000;
/** Least wait after which the lock counts as held by another process, in milliseconds: a shorter one was ended by the caller. */
const LOCKED_MS = 1_000;

/** A state, and the message of SQLite. */
type Failure = State & { readonly message: string };

/**
 * Failures of an SQLite database, as the results of its statements show. Files that were moved or replaced are reported by
 * DatabaseFiles, which is checked before a failure is attributed to the disk.
 */
export class DatabaseTroubles extends WriteTrouble {
  /** Writes that the disk refuses. A write that succeeds proves little: `probeWrites` ends it. */
  readonly writes: Outage<Failure>;
  /** The write lock, held by another process; ends with the next write. */
  readonly lock: Outage<true>;
  private readonly reads: Outage<Failure>;
  /** Damage lasts, even if later reads succeed: other damaged pages show only when they are read. The next start checks the file. */
  private readonly damage: Outage<ApiError>;

  /** `file` is how the log calls the database. */
  constructor(
    private readonly file: string,
    private readonly files: DatabaseFiles,
  ) {
    super();
    this.writes = new Outage({
      startMessage: ({ trouble, message, remedy }) =>
        `${file} cannot be written: ${trouble} (${message}). Writes are refused with 503, and reads continue. ${remedy}; ` +
        'the service recovers automatically.',
      endMessage: () => `${file} can be written again`,
    });
    this.reads = new Outage({
      startMessage: ({ trouble, message, remedy }) =>
        `${file} cannot be read: ${trouble} (${message}). Requests that need it are refused with 503. ${remedy}; ` +
        'the service recovers automatically.',
      endMessage: () => `No read of ${file} has been refused for ${QUIET_MS / 1_000} s`,
      quietMs: QUIET_MS,
    });
    this.lock = new Outage({
      startMessage: () =>
        `${file} is locked by another process. Writes are refused with 503 after some seconds, and reads continue. ` +
        `"fuser -v ${file}" shows that process. When it exits or releases the lock, the service recovers automatically.`,
      endMessage: (seconds) =>
        `${file} can be written again, after another process had locked it for ${seconds} s`,
    });
    this.damage = new Outage({
      startMessage: ({ cause }) =>
        `${damaged(file, messageOf(cause))} "petstore doctor" lists the corrupted parts. Requests that need them are refused with 503, and ` +
        '/health/ready returns 503 until the service is restarted.',
    });
  }

  /** Why the database cannot be written at the moment, in words for a client; undefined while it can. */
  get reason(): string | undefined {
    const details = this.writes.reason;
    return details && `${NOT_WRITTEN}: ${details.trouble}`;
  }

  /** Why nothing can be read or written at the moment; undefined while something can. */
  get error(): ApiError | undefined {
    return this.files.error ?? this.damage.reason;
  }

  /**
   * Returns service_unavailable for the error of a statement on the connection that writes, if it is a state of the database; a
   * defect of the service is returned as it is. `code` is SQLite's; `since` is when the statement began, by `performance.now()`.
   */
  writeError(error: unknown, code: string | undefined, since: number): unknown {
    return this.refusal(error, code, (state, details) => {
      if (state !== LOCKED) this.writes.note(details);
      else if (this.lock.reason || performance.now() - since >= LOCKED_MS) this.lock.note(() => true, since);
      else return false;
      return true;
    });
  }

  /** The same for a connection that only reads. */
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
