import type { PoolClient } from 'pg';
import { ANSWER_LATE_MS, lateCommitOf } from './late-commits.js';

/** How much of its time a statement is given on the server at least, in milliseconds: 0 would mean no limit. */
const LEAST_MS = 1;

/** What is told to pg with a statement that may take that long, in milliseconds; undefined where the general limits do. */
export function answeredWithin(limitMs: number | undefined): { readonly query_timeout?: number } {
  return limitMs === undefined ? {} : { query_timeout: Math.ceil(limitMs) + ANSWER_LATE_MS };
}

/**
 * Runs one statement outside of a transaction that the server ends after that time, in milliseconds, so that it keeps no connection
 * and no lock for longer; undefined where the general limits do. What sets the limit is sent together with it.
 */
export async function limited<T>(
  client: PoolClient,
  limitMs: number | undefined,
  statement: () => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return statement();
  send(client, `SET statement_timeout = ${onServer(limitMs)}`);
  let isLate = false;
  try {
    return await statement();
  } catch (error) {
    isLate = lateCommitOf(error) !== undefined;
    throw error;
  } finally {
    // To what the connection began with, whoever has set that; sent before whatever the connection is used for next. After a commit
    // that is late nothing is: it would not be answered either.
    if (!isLate) send(client, 'RESET statement_timeout');
  }
}

/** Has the server end the next statements of a transaction after that time, in milliseconds. */
export function limitInTransaction(client: PoolClient, limitMs: number): void {
  send(client, `SET LOCAL statement_timeout = ${onServer(limitMs)}`);
}

/** When it fails, the statement beside it does. */
function send(client: PoolClient, sql: string): void {
  client.query(sql).catch(() => undefined);
}

function onServer(limitMs: number): number {
  return Math.max(Math.ceil(limitMs), LEAST_MS);
}
