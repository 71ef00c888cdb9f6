import { withParameters } from '../dialect.js';

/** The column of a joined statement that tells which read a row is of, counted from 0. */
export const READ_OF_ROW = 'joined read';

/**
 * One statement that answers several reads by the same one, each with parameters of its own, from one state of the database: the
 * rows of every read, with its number. `parameters` is how many each has; those of the second read follow the first's.
 */
export function joinedStatement(sql: string, parameters: number, reads: number): string {
  return Array.from({ length: reads }, (_, read) => {
    const numbered = withParameters(sql, (place) => `?${place + read * parameters}`);
    return `SELECT ${read} AS "${READ_OF_ROW}", * FROM (${numbered})`;
  }).join(' UNION ALL ');
}
