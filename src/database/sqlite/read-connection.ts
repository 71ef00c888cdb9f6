import { LRUCache } from 'lru-cache';
import type { DataSource } from 'typeorm';
import type { ApiError } from '../../core/errors/api-error.js';
import { outsideOfSpans } from '../../core/tracing.js';
import { TransientMap } from '../../core/transient-map.js';
import { JsonReader } from '../database.js';
import { withParameters } from '../dialect.js';
import { type Bound, Connection, type Row } from './connection.js';
import type { DatabaseFiles } from './availability/database-files.js';
import type { SqliteAvailability } from './availability/sqlite-availability.js';
import type { Transactions } from '../transactions/transactions.js';

/** Clients choose how lists are filtered and sorted; each choice is a separate statement. */
const PREPARED = { max: 500, accepts: () => true };

interface SqliteFile extends DataSource {
  readonly transactions: Transactions;
  readonly files: DatabaseFiles;
  readonly availability: SqliteAvailability;
}

/**
 * A second, read-only connection to an SQLite file. Thanks to the write-ahead log, it does not wait for the writer and sees commits
 * immediately. Within a transaction, the caller reads on the writing connection and sees its own writes.
 */
export class ReadConnection extends JsonReader {
  private readonly inTransaction: OwnConnection;
  private readonly joined: JoinedReads;

  private constructor(
    private readonly connection: Connection,
    private readonly dataSource: SqliteFile,
  ) {
    super();
    this.inTransaction = new OwnConnection(dataSource);
    this.joined = new JoinedReads((sql, parameters) =>
      connection.all(sql, parameters).catch((error: { code?: string }) => {
        throw dataSource.availability.readError(error, error.code);
      }),
    );
  }

  /** Opens the existing file of a DataSource. */
  static async open(dataSource: SqliteFile, file: string, busyTimeoutMs: number): Promise<ReadConnection> {
    const connection = await Connection.open(file, 'read', { busyTimeoutMs, prepared: PREPARED });
    return new ReadConnection(connection, dataSource);
  }

  override get error(): ApiError | undefined {
    return this.dataSource.availability.error;
  }

  async first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    const { transactions, files, logger } = this.dataSource;
    if (transactions.isInside()) return this.inTransaction.first(sql, parameters);
    files.refuseIfDamaged();
    logger.logQuery(sql, [...parameters]);
    return this.joined.first(sql, parameters);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

/** Reads on the DataSource's own connection, because a database in memory has no other. */
export class OwnConnection extends JsonReader {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    const rows: Row[] = await this.dataSource.query(sql, [...parameters]);
    return rows[0];
  }
}

/** Maximum number of reads per statement, because more would save little, and a slow one would delay more. */
const MAX_JOINED = 16;
/** Number of statements whose joined forms are cached; clients choose filters and orders, which form separate statements. */
const MAX_STATEMENTS = 500;

interface PendingRead {
  readonly parameters: readonly Bound[];
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Joins reads of the same statement that arrive in one turn of the event loop, or during another read, into one statement with one hop
 * through the thread pool. Each succeeds or fails as it would alone.
 */
class JoinedReads {
  private readonly pending = new TransientMap<string, PendingRead[]>();
  /** Joined statements by original statement and number of reads. */
  private readonly statements = new LRUCache<string, string[]>({ max: MAX_STATEMENTS });

  /** `all` returns the rows of a statement, which must not run twice at a time. */
  constructor(private readonly all: (sql: string, parameters: readonly Bound[]) => Promise<readonly Row[]>) {}

  /** The row of a statement that returns at most one and has a fixed number of parameters. Rejects like `all`. */
  first(sql: string, parameters: readonly Bound[]): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const pending = this.pending.get(sql);
      if (pending) {
        pending.push({ parameters, resolve, reject });
        return;
      }
      this.pending.set(sql, [{ parameters, resolve, reject }]);
      // Reads that have already arrived join it.
      outsideOfSpans(() => setImmediate(() => void this.readAll(sql)));
    });
  }

  private async readAll(sql: string): Promise<void> {
    const pending = this.pending.get(sql) ?? [];
    while (pending.length > 0) {
      // Powers of two, so that few statements stay prepared.
      const reads = Math.min(MAX_JOINED, 2 ** Math.floor(Math.log2(pending.length)));
      await this.read(sql, pending.splice(0, reads));
    }
    this.pending.delete(sql);
  }

  /** Settles each read; never rejects. */
  private async read(sql: string, reads: readonly PendingRead[]): Promise<void> {
    const [first] = reads;
    if (!first) return;
    try {
      if (reads.length === 1) return first.resolve((await this.all(sql, first.parameters))[0]);
      const joined = this.statement(sql, first.parameters.length, reads.length);
      const rows = new Map<unknown, Row>();
      for (const row of await this.all(
        joined,
        reads.flatMap(({ parameters }) => parameters),
      ))
        rows.set(row[READ_INDEX], row);
      for (const [index, { resolve }] of reads.entries()) resolve(rows.get(index));
    } catch (error) {
      // A single read may have caused it.
      if (reads.length === 1) first.reject(error);
      else for (const one of reads) await this.read(sql, [one]);
    }
  }

  private statement(sql: string, parameters: number, reads: number): string {
    let statements = this.statements.get(sql);
    if (!statements) this.statements.set(sql, (statements = []));
    return (statements[reads] ??= joinedStatement(sql, parameters, reads));
  }
}

/** Column with the index of the read that a row belongs to. */
const READ_INDEX = 'joined read';

/**
 * A statement that performs several reads on one snapshot, with the index of the read in each row. `parameters` is the number of parameters
 * of each read.
 */
function joinedStatement(sql: string, parameters: number, reads: number): string {
  return Array.from({ length: reads }, (_, read) => {
    const numbered = withParameters(sql, (place) => `?${place + read * parameters}`);
    return `SELECT ${read} AS "${READ_INDEX}", * FROM (${numbered})`;
  }).join(' UNION ALL ');
}
