import { type Fault, type Via, overlap } from './history.js';

/** What is served: one PostgreSQL and one Redis by two instances, or one SQLite file by one. */
export type Topology = 'postgres' | 'sqlite';

/** What the service promises of one topology. */
export interface Promises {
  /** How old a row may be in a response, in milliseconds after its change was acknowledged. */
  readonly rowsMs: Readonly<Record<Via, number>>;
  /** The same for keys, and for the state and the plan of a client, in processes other than the one that made the change. */
  readonly keysMs: Readonly<Record<Via, number>>;
  /** Whether a key or a client that would be refused is read again, so that what makes it work is seen immediately. */
  readonly isRefusalReadAnew: boolean;
  /** Whether a row that one response has shown is shown by every later one, even if its write is not acknowledged yet. */
  readonly isMonotonic: boolean;
  /** How many times its limit a client may get in a minute with these faults of Redis and of instances. */
  readonly timesTheLimit: (faults: readonly Fault[], instances: number) => number;
  /** Counts of this time before an instance is killed may be lost; 0 where Redis has them. */
  readonly lostCountsMs: number;
}

/** The clocks of two processes differ by little. */
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
  // A busy machine writes the counts of the last second later.
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

/** Faults of Redis, and what of them the instances noticed by themselves: that it was late on a busy machine. */
function failuresOfRedis(faults: readonly Fault[]): number {
  const made = faults.filter(({ kind }) => /^redis (?:killed|paused|flushed)$/.test(kind));
  const alone = faults.filter(({ kind }) => kind === 'redis alone');
  return made.length + alone.filter((one) => !made.some((other) => overlap(one, other))).length;
}

/** Whether an instance started while Redis was away: it knew neither the others nor what was used. */
function startedAlone(faults: readonly Fault[]): boolean {
  const away = faults.filter(({ kind }) => /^redis (?:killed|paused|alone)$/.test(kind));
  return faults.some((one) => one.kind.startsWith('instance') && away.some((other) => overlap(one, other)));
}

/** Once in Redis and once by the shares of all, or whole by each instance that started alone; once more for each loss of Redis' data. */
function timesWithRedis(faults: readonly Fault[], instances: number): number {
  if (failuresOfRedis(faults) === 0) return 1;
  const losses = faults.filter(({ kind }) => kind === 'redis killed' || kind === 'redis flushed').length;
  return 1 + (startedAlone(faults) ? instances : 1) + losses;
}
