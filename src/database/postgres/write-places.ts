import { Turns } from '../scopes/turns.js';

/** How long a write waits for a place at most, in milliseconds. */
const MOST_WAIT_MS = 1_000;
/** How many connections of a pool are kept for reads, at least: while commits hang, reads go on. */
const LEAST_FOR_READS = 1;
/** Which part of a pool is kept for reads. */
const PART_FOR_READS = 1 / 5;
/** A pool has at least so many places: a handler in a transaction, and the service that writes beside it. */
const LEAST_PLACES = 2;

/** The places of writes among the connections of a pool. A pool of two has none to keep for reads. */
export function writePlaces(pool: number): Turns {
  const forReads = Math.max(Math.floor(pool * PART_FOR_READS), LEAST_FOR_READS);
  const most = Math.min(pool, Math.max(pool - forReads, LEAST_PLACES));
  return new Turns(most, MOST_WAIT_MS, () => new Error(WAITED));
}

const WAITED = 'a write has waited for a connection for as long as it may';
