import type { ApiError } from '../errors/api-error.js';

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
    parameters: readonly (string | number)[],
  ): Promise<Readonly<Record<string, unknown>> | undefined>;
}
