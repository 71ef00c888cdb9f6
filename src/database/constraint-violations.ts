import { OptimisticLockVersionMismatchError } from 'typeorm';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { unavailable } from './unavailable.js';

/**
 * A driver's error for a violated constraint: sqlite3 describes it in the message, pg in fields (PostgreSQL manual, "Error and Notice
 * Message Fields").
 */
interface Violation {
  readonly code?: unknown;
  readonly message: string;
  readonly table?: string;
  readonly constraint?: string;
  readonly detail?: string;
}

const SQLITE_UNIQUE = /UNIQUE constraint failed: (.+)$/;
/** SQLSTATE of unique_violation and of foreign_key_violation. */
const [POSTGRES_UNIQUE, POSTGRES_FOREIGN_KEY] = ['23505', '23503'];
/** SQLSTATE of conflicts with other transactions: serialization failure, deadlock, lock not available. */
const RETRYABLE = ['40001', '40P01', '55P03'];
/** SQLSTATE of a statement that took too long, for example because it waited for a lock. */
const TIMED_OUT = '57014';
/** The columns in the detail of a unique_violation, such as `Key (name, shop)=(Ball, 3) already exists.` */
const POSTGRES_COLUMNS = /^Key \(("?\w+"?(?:, "?\w+"?)*)\)=\(/;

/** The driver's error, which TypeORM wraps. */
function violationOf(error: unknown): Partial<Violation> {
  const { driverError = error } = Object(error) as { readonly driverError?: unknown };
  return Object(driverError);
}

/**
 * The columns of a violated unique constraint, such as `['toys.name']`; undefined for any other error. For an index over expressions, the
 * name of the index: `["index 'toys_by_name'"]`.
 */
export function uniqueViolation(error: unknown): readonly string[] | undefined {
  const { code, message = '', table, constraint, detail } = violationOf(error);
  if (code === 'SQLITE_CONSTRAINT') return SQLITE_UNIQUE.exec(message)?.[1]?.split(', ');
  if (code !== POSTGRES_UNIQUE) return undefined;
  const [, columns] = POSTGRES_COLUMNS.exec(detail ?? '') ?? [];
  if (columns === undefined) return [`index '${constraint}'`];
  return columns.split(', ').map((column) => `${table}.${column.replaceAll('"', '')}`);
}

/** Whether an error is a foreign key violation. */
export function isForeignKeyViolation(error: unknown): boolean {
  const { code, message = '' } = violationOf(error);
  if (code === POSTGRES_FOREIGN_KEY) return true;
  return code === 'SQLITE_CONSTRAINT' && message.includes('FOREIGN KEY constraint failed');
}

/** The ApiError for a violated constraint or a conflict, so that features need not check before they write; any other error unchanged. */
export function refusalByDatabase(error: unknown): unknown {
  const cause = { cause: error };
  if (uniqueViolation(error)) return new ApiError(HTTP_ERRORS.already_exists, cause);
  if (isForeignKeyViolation(error)) return new ApiError(HTTP_ERRORS.reference_conflict, cause);
  if (error instanceof OptimisticLockVersionMismatchError)
    return new ApiError(HTTP_ERRORS.precondition_failed, cause);
  const { code } = violationOf(error);
  return RETRYABLE.some((one) => one === code) ? unavailable('the database is busy', error) : error;
}

/** Whether the database canceled a statement because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return violationOf(error).code === TIMED_OUT;
}
