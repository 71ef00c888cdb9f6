import { setTimeout as pause } from 'node:timers/promises';
import { Query } from 'typeorm/driver/Query.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { type Table, type TableIndex, TypeORMError, type View } from 'typeorm';
import type { TransactionHome } from '../transactions/outermost-transaction.js';
import type { PostgresPool } from './postgres-pool.js';
import { PostgresRunner } from './postgres-runner.js';

const NAME = '(?:"(?:[^"]|"")+"|[\\w$]+)';
/** Matches a statement that creates an index while its table is writable. */
const CREATE_CONCURRENTLY = new RegExp(
  `^\\s*CREATE\\s+(?:UNIQUE\\s+)?INDEX\\s+CONCURRENTLY\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?(?<index>${NAME})\\s+ON\\s+(?:ONLY\\s+)?(?<table>${NAME}(?:\\.${NAME})?)`,
  'i',
);
const CONCURRENTLY = /^(\s*(?:CREATE\s+(?:UNIQUE\s+)?|DROP\s+)INDEX\s+)CONCURRENTLY\s+/i;

/** The index with a name in the schema of a table. The creation of an index holds this table lock, and so does VACUUM. */
const FIND_INDEX = `SELECT x.oid::regclass::text AS name, i.indisvalid AS "isValid", i.indrelid = t.oid AS "isOnTable", EXISTS (
    SELECT FROM pg_locks WHERE relation = t.oid AND mode = 'ShareUpdateExclusiveLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS "isBusy"
  FROM pg_class t JOIN pg_class x ON x.relnamespace = t.relnamespace AND x.relname = (parse_ident($2))[1]
  JOIN pg_index i ON i.indexrelid = x.oid WHERE t.oid = to_regclass($1)`;

interface FoundIndex {
  readonly name: string;
  readonly isValid: boolean;
  readonly isOnTable: boolean;
  readonly isBusy: boolean;
}

/** Interval between checks of an index that is being created, in milliseconds. */
const POLL_MS = 250;

/**
 * Runs a migration outside of a transaction, so that it can be repeated after an interruption. With `isInside`, it runs in the caller's
 * transaction, on tables that nobody else uses, because PostgreSQL cannot create indexes concurrently within a transaction.
 */
export class MigrationRunner extends PostgresRunner {
  constructor(
    driver: PostgresDriver,
    pool: PostgresPool,
    home: TransactionHome,
    private readonly isInside: boolean,
  ) {
    super(driver, pool, home);
  }

  override async query(sql: string, parameters: unknown[] = [], structured = false): Promise<never> {
    if (this.isInside) return super.query(sql.replace(CONCURRENTLY, '$1'), parameters, structured);
    const { index, table } = CREATE_CONCURRENTLY.exec(sql)?.groups ?? {};
    if (index === undefined || table === undefined) return super.query(sql, parameters, structured);
    await this.dropInvalid(table, index);
    try {
      const result = await super.query(sql, parameters, structured);
      // IF NOT EXISTS also succeeds for an index that another session is still creating.
      if ((await this.findIndex(table, index))?.isValid === true) return result;
      throw new TypeORMError(`The index ${index} was not completed. Run the migration again.`);
    } catch (error) {
      // It would slow down writes, and a unique index would refuse some.
      await this.dropInvalid(table, index).catch(() => undefined);
      throw error;
    }
  }

  /** An interrupted migration may have created it. */
  protected override createIndexSql(table: Table, index: TableIndex): Query {
    return rewritten(super.createIndexSql(table, index), 'IF NOT EXISTS');
  }

  protected override dropIndexSql(table: Table | View, index: TableIndex | string): Query {
    return rewritten(super.dropIndexSql(table, index), 'IF EXISTS');
  }

  /** Drops the index if its creation was interrupted or failed. Throws if the index belongs to another table. */
  private async dropInvalid(table: string, index: string): Promise<void> {
    let found = await this.findIndex(table, index);
    if (found?.isOnTable === false)
      throw new TypeORMError(`The index ${found.name} belongs to a table other than ${table}.`);
    // The server keeps creating it even if the service that requested it was killed. Poll instead of waiting for the lock, because the
    // creation would wait for the snapshot of the waiting statement to end.
    while (found?.isValid === false && found.isBusy) {
      await pause(POLL_MS);
      found = await this.findIndex(table, index);
    }
    if (found?.isValid === false) await super.query(`DROP INDEX CONCURRENTLY ${found.name}`);
  }

  private async findIndex(table: string, index: string): Promise<FoundIndex | undefined> {
    const [found] = (await super.query(FIND_INDEX, [table, index])) as FoundIndex[];
    return found;
  }
}

function rewritten({ query, parameters }: Query, condition: string): Query {
  return new Query(query.replace(CONCURRENTLY, `$&${condition} `), parameters);
}
