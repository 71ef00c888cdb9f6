import { LRUCache } from 'lru-cache';
import type { PoolClient, QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { ApiError } from '../../core/errors/api-error.js';
import { isStatementTimeout } from '../constraint-violations.js';
import { JsonReader, type Parameter, type Row } from '../database.js';
import { withParameters } from '../dialect.js';
import { JoinedReads } from '../joined-reads.js';
import type { Transactions } from '../transactions/transactions.js';
import { codeOf, errorKindOf, isServerError } from './postgres-errors.js';
import type { PooledConnection } from './pooled-connection.js';
import type { PostgresPool } from './postgres-pool.js';
import { READY_GRACE_MS } from './postgres-availability.js';

/** Maximum number of named statements, the most recently used; clients choose how lists are filtered and sorted. */
const MAX_NAMED = 500;
/**
 * Maximum number of statements prepared on a connection, including those that no longer have a name; beyond it, the connection is closed.
 */
const MAX_PREPARED = 2 * MAX_NAMED;
/** Maximum number of attempts for a read whose connection is lost each time. */
const MAX_READS = 5;
/** Maximum number of rows read with one statement. Each statement wakes a process of the server, which costs more than the read. */
const MAX_JOINED = 8;
/** SQLSTATE for a prepared statement whose table has changed. */
const STALE_PLAN = '0A000';

/** A statement in PostgreSQL's syntax. Without a name, it is not prepared. Names are never reused. */
interface Statement {
  readonly text: string;
  readonly name?: string;
}

/** Reads with statements that each connection prepares once. Within a transaction, it reads in that transaction. */
export class NamedReads extends JsonReader {
  private readonly statements = new LRUCache<string, Statement>({ max: MAX_NAMED });
  private readonly prepared = new WeakMap<PoolClient, Set<string>>();
  private readonly rows = new JoinedReads((sql, parameters) => this.read(this.statementOf(sql), parameters), {
    max: MAX_JOINED,
    areSerial: false,
    isShared: isOfAllReads,
  });
  private nameCount = 0;

  constructor(
    private readonly dataSource: DataSource,
    private readonly pool: PostgresPool,
    private readonly transactions: Transactions,
  ) {
    super();
  }

  override get error(): ApiError | undefined {
    const { availability } = this.pool;
    return availability.unreachableMs > READY_GRACE_MS ? availability.error : undefined;
  }

  /** The service counts as ready for a short time after the server became unavailable, because most servers are back by then. */
  override async ping(): Promise<void> {
    try {
      await super.ping();
    } catch (error) {
      const { unreachableMs } = this.pool.availability;
      if (unreachableMs === 0 || unreachableMs > READY_GRACE_MS) throw error;
    }
  }

  async first(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    const statement = this.statementOf(sql);
    if (this.transactions.isInside()) {
      const rows: Row[] = await this.dataSource.query(statement.text, [...parameters]);
      return rows[0];
    }
    this.log(statement, parameters);
    return (await this.read(statement, parameters))[0];
  }

  /** The lock still allows others to reference the row by a foreign key. Outside of a transaction, concurrent reads are joined. */
  override async row(sql: string, parameters: readonly Parameter[]): Promise<Row | undefined> {
    if (this.transactions.isInside()) return this.first(`${sql} FOR NO KEY UPDATE`, parameters);
    this.log(this.statementOf(sql), parameters);
    return this.rows.first(sql, parameters);
  }

  private log({ text }: Statement, parameters: readonly Parameter[]): void {
    this.dataSource.logger.logQuery(text, [...parameters]);
  }

  /** Reads on a connection, and again on another if it was lost. */
  private async read(statement: Statement, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    const values = [...parameters];
    for (let attempt = 0; ; attempt += 1) {
      const query = attempt === 0 ? { ...statement, values } : { text: statement.text, values };
      try {
        return await this.pool.read((connection) => this.readOn(connection, query));
      } catch (error) {
        // A read can be repeated, without the stale plan or on another connection. If all sessions were ended at once, the pool does not
        // yet know about each.
        const isLost = error instanceof ApiError && errorKindOf(error.cause) === 'lost';
        if (codeOf(error) === STALE_PLAN && attempt === 0) this.statements.clear();
        else if (attempt === MAX_READS || !isLost) throw error;
      }
    }
  }

  private async readOn(connection: PooledConnection, query: QueryConfig): Promise<readonly Row[]> {
    const { rows } = await connection.query(query);
    if (query.name !== undefined) {
      const names = this.prepared.get(connection.client) ?? new Set();
      this.prepared.set(connection.client, names.add(query.name));
      if (names.size >= MAX_PREPARED) connection.isBroken = true;
    }
    return rows as Row[];
  }

  private statementOf(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (!statement) {
      const text = withParameters(sql, (place) => `$${place}`);
      statement = { text, name: `petstore_${(this.nameCount += 1)}` };
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

/** Whether no server has run the statement, or it took too long: each read alone would take as long again. */
function isOfAllReads(error: unknown): boolean {
  return error instanceof ApiError && (!isServerError(error.cause) || isStatementTimeout(error.cause));
}
