import { type Fault, type Via, overlap } from './history.js';

/** The topologies: two instances with one PostgreSQL and one Redis, or one instance with an SQLite file. */
export type Topology = 'postgres' | 'sqlite';

/** The promises of the service for one topology. */
export interface Promises {
  /** Maximum age of a row in a response, in milliseconds after its change was acknowledged. */
  readonly rowsMs: Readonly<Record<Via, number>>;
  /** The same for keys, and for the state and plan of a client, in processes other than the one that made the change. */
  readonly keysMs: Readonly<Record<Via, number>>;
  /** Whether a key or a client is read again before it is refused, so that a change that makes it valid takes effect immediately. */
  readonly isRefusalReadAnew: boolean;
  /** Whether a row that was shown in a response is shown in every later response, even if its write has not been acknowledged yet. */
  readonly isMonotonic: boolean;
  /** How many times its limit a client may be admitted in a minute with these faults of Redis and of instances. */
  readonly timesTheLimit: (faults: readonly Fault[], instances: number) => number;
  /** Counts from this time before an instance is killed may be lost, in milliseconds; 0 if they are in Redis. */
  readonly lostCountsMs: number;
}

/** Maximum difference between the clocks of two processes. */
const AT_ONCE = { http: 0, command: 0, sql: 0, time: 250 };
const WITHIN_A_SECOND = { ...AT_ONCE, http: 1_000, command: 1_000, sql: 1_000 };
/** The promises: docs/operations/instances.md, docs/operations/postgresql.md and docs/reliability.md. */
const PROMISES: Readonly<Record<Topology, Promises>> = {
  postgres: {
    rowsMs: AT_ONCE,
    keysMs: WITHIN_A_SECOND,
    isMonotonic: true,
    isRefusalReadAnew: true,
    timesTheLimit: timesWithRedis,
    lostCountsMs: 0,
  },
  // On a busy machine, the counts of the last second are written later.
  sqlite: {
    rowsMs: AT_ONCE,
    keysMs: WITHIN_A_SECOND,
    isMonotonic: true,
    isRefusalReadAnew: true,
    timesTheLimit: () => 1,
    lostCountsMs: 3_000,
  },
};

/** Maximum time to a response, in milliseconds. */
export const LONGEST_REQUEST_MS = 15_000;
/** Maximum time after the last fault until every instance serves again, in milliseconds, on a busy machine. */
export const HEALS_WITHIN_MS = 30_000;

/** The promises that are checked. */
export function promisesOf(topology: Topology): Promises {
  return PROMISES[topology];
}

/** Faults of Redis, and failures that the instances detected themselves, because Redis was slow on a busy machine. */
function failuresOfRedis(faults: readonly Fault[]): number {
  const made = faults.filter(({ kind }) => /^redis (?:killed|paused|flushed)$/.test(kind));
  const alone = faults.filter(({ kind }) => kind === 'redis alone');
  return made.length + alone.filter((one) => !made.some((other) => overlap(one, other))).length;
}

/** Whether an instance started while Redis was unavailable, when it knew neither the other instances nor the current counts. */
function startedAlone(faults: readonly Fault[]): boolean {
  const away = faults.filter(({ kind }) => /^redis (?:killed|paused|alone)$/.test(kind));
  return faults.some((one) => one.kind.startsWith('instance') && away.some((other) => overlap(one, other)));
}

/**
 * One limit in Redis, one for the shares of all instances or for each instance that started alone, and one for each time Redis lost its
 * data.
 */
function timesWithRedis(faults: readonly Fault[], instances: number): number {
  if (failuresOfRedis(faults) === 0) return 1;
  const losses = faults.filter(({ kind }) => kind === 'redis killed' || kind === 'redis flushed').length;
  return 1 + (startedAlone(faults) ? instances : 1) + losses;
}
