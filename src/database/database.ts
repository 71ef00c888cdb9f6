import { DataSource } from 'typeorm';
import type { ApiError } from '../errors/api-error.js';
import type { DataVersion } from './data-version.js';
import type { WriteTrouble } from './sqlite/troubles/access-trouble.js';
import type { Transactions } from './transactions.js';

/** Reads what is committed, by statements that are prepared once; within a transaction, what that has written too. */
export abstract class JsonReader {
  /** Why nothing can be read, where that is known without asking; undefined while all is well. */
  get fault(): ApiError | undefined {
    return undefined;
  }

  /**
   * The first row of a query, by the names of its columns; undefined when there is none. `?1` stands for the first
   * parameter. int64 columns must be selected as text or within JSON: a driver may round them.
   */
  abstract first(
    sql: string,
    parameters: readonly (string | number | null)[],
  ): Promise<Readonly<Record<string, unknown>> | undefined>;
}

/**
 * What the service needs of a database beyond TypeORM's DataSource. Its repositories and managers take part in the running
 * transaction by themselves, and single rows that they insert outside of one may be committed together (GroupedInserts).
 */
export abstract class Database extends DataSource {
  /** Reads rows as JSON text. */
  abstract readonly reader: JsonReader;
  /** The transactions that repositories take part in. */
  abstract readonly transactions: Transactions;
  /** Whether anything was committed, by this process or another. */
  abstract readonly dataVersion: DataVersion;
  /** Whether it can be written at the moment. */
  abstract readonly writeTrouble: WriteTrouble;
}
