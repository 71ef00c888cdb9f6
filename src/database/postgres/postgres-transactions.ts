import type { DataSource } from 'typeorm';
import { ScopedTransactions } from '../scopes/scoped-transactions.js';
import type { PostgresConnection } from './postgres-connection.js';

/** A number of 64 bits for a name. Other programs on the same database hardly have the same. */
const NUMBER = `hashtextextended('petstore ' || $1, 0)`;

/** The transactions on PostgreSQL. */
export class PostgresTransactions extends ScopedTransactions {
  constructor(
    connection: PostgresConnection,
    private readonly dataSource: DataSource,
  ) {
    super(connection);
  }

  async claim(name: string): Promise<void> {
    await this.dataSource.query(`SELECT pg_advisory_xact_lock(${NUMBER})`, [name]);
  }

  async tryToClaim(name: string): Promise<boolean> {
    const sql = `SELECT pg_try_advisory_xact_lock(${NUMBER}) AS claimed`;
    const [row] = await this.dataSource.query<{ claimed: boolean }[]>(sql, [name]);
    return row?.claimed === true;
  }

  /** Every commit is one, whether or not rows have changed. */
  touch(): Promise<void> {
    return Promise.resolve();
  }
}
