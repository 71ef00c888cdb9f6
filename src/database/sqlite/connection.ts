import { LRUCache } from 'lru-cache';
import sqlite3 from 'sqlite3';
import { commandOf, isReturning } from '../statements.js';
import { type Parameters, exactParameters } from './exact-parameters.js';

/** How long to wait for a lock of another process, in milliseconds. */
const LOCK_WAIT_MS = 4_000;

/** A value for a parameter. */
export type Bound = string | number | bigint | null;

/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Which statements stay prepared; none by default. */
export interface Prepared {
  readonly max: number;
  readonly accepts: (sql: string) => boolean;
}

/** How a connection is opened. */
export interface ConnectionOptions {
  readonly busyTimeoutMs?: number;
  readonly prepared?: Prepared;
}

/** sqlite3 passes the last id and the number of changes in `this`. */
type Handler = (this: sqlite3.RunResult, error: Error | null, rows?: unknown[]) => void;
type Method = 'run' | 'all';
type Execute = (sql: string, parameters: Parameters | undefined, handler: Handler) => void;

/**
 * A connection to an SQLite file that caches prepared statements, because sqlite3 prepares and runs a statement in two hops through the
 * thread pool, each of which waits for a turn of the event loop. A statement must not run twice at the same time.
 */
export class Connection {
  /** The methods that TypeORM's query runner uses. */
  readonly driver: Readonly<Record<Method, Execute>> = {
    run: (sql, ...args) => this.execute(returnsNothing(sql) ? 'run' : 'all', sql, ...args),
    all: (sql, ...args) => this.execute(returnsNothing(sql) ? 'run' : 'all', sql, ...args),
  };
  private readonly statements: LRUCache<string, sqlite3.Statement>;
  private isFinalized = false;

  /** Wraps an open connection. */
  constructor(
    private readonly database: sqlite3.Database,
    private readonly prepared: Prepared = { max: 1, accepts: () => false },
  ) {
    this.statements = new LRUCache({
      max: prepared.max,
      // Queued behind the calls that still run on the statement.
      dispose: (statement) => statement.finalize(),
    });
  }

  /** Opens an existing file. */
  static async open(
    file: string,
    access: 'read' | 'write',
    { busyTimeoutMs = LOCK_WAIT_MS, prepared }: ConnectionOptions = {},
  ): Promise<Connection> {
    const mode = access === 'read' ? sqlite3.OPEN_READONLY : sqlite3.OPEN_READWRITE;
    const database = await new Promise<sqlite3.Database>((resolve, reject) => {
      const opened: sqlite3.Database = new sqlite3.Database(file, mode, (error) => {
        if (error) reject(error);
        else resolve(opened);
      });
    });
    database.configure('busyTimeout', busyTimeoutMs);
    return new Connection(database, prepared);
  }

  all<R extends object = Row>(sql: string, parameters: readonly Bound[] = []): Promise<R[]> {
    return new Promise((resolve, reject) => {
      // Not get(), which leaves the read open after the first row. A cached statement would then see this snapshot forever.
      this.execute('all', sql, parameters, (error, rows) => {
        if (error) reject(error);
        else resolve(rows as R[]);
      });
    });
  }

  /** The values of the first column of a statement, as text. */
  async texts(sql: string, parameters: readonly Bound[] = []): Promise<string[]> {
    return (await this.all(sql, parameters)).map((row) => String(Object.values(row)[0]));
  }

  /** The names of the tables, without SQLite's own. */
  tables(): Promise<string[]> {
    return this.texts(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
    );
  }

  /** Aborts the running statement with an error. */
  interrupt(): void {
    this.database.interrupt();
  }

  /** Finalizes all statements, once they have ended, because a connection with a prepared one cannot be closed. */
  finalize(): void {
    this.isFinalized = true;
    this.statements.clear();
  }

  /** Closes the connection once its statements have ended; an open transaction is rolled back. */
  close(): Promise<void> {
    this.finalize();
    return new Promise((resolve, reject) => {
      this.database.close((error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  private execute(
    method: Method,
    statement: string,
    rawParameters: Parameters | undefined,
    handler: Handler,
  ): void {
    const [sql, parameters] = exactParameters(statement, rawParameters);
    if (!this.prepared.accepts(sql)) {
      this.database[method](sql, parameters, handler);
      return;
    }
    const cached = this.statements.get(sql);
    if (cached) {
      this.step(cached, method, sql, parameters, handler);
      return;
    }
    const prepared = this.database.prepare(sql, (error: Error | null) => {
      // Not cached, because its table may exist by the next call.
      if (error) handler.call(prepared as unknown as sqlite3.RunResult, error);
      else {
        this.statements.set(sql, prepared);
        this.step(prepared, method, sql, parameters, handler);
        if (this.isFinalized) this.statements.clear();
      }
    });
  }

  private step(
    statement: sqlite3.Statement,
    method: Method,
    sql: string,
    parameters: Parameters,
    handler: Handler,
  ): void {
    const { statements } = this;
    statement[method](parameters, function (this: sqlite3.RunResult, error: Error | null, rows?: unknown[]) {
      // After SQLITE_BUSY, a statement would resume with its old snapshot.
      if (error) statements.delete(sql);
      handler.call(this, error, rows);
    });
  }
}

const CHANGES = new Set(['INSERT', 'REPLACE', 'UPDATE', 'DELETE']);

/** Whether a statement returns only the number of changed rows. */
function returnsNothing(sql: string): boolean {
  return CHANGES.has(commandOf(sql)) && !isReturning(sql);
}
