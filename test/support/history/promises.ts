import { type Fault, type Via, overlap } from './history.js';

/** What is served: one PostgreSQL and one Redis by two instances, or one SQLite file by one. */
export type Topology = 'postgres' | 'sqlite';

/** What the service promises of one topology. */
export interface Promises {
  /** How old a row may be in a response, in milliseconds after its change was acknowledged. */
  readonly rowsMs: Readonly<Record<Via, number>>;
  /** The same for keys, and for the state and the plan of a client, in processes other than the one that made the change. */
  readonly keysMs: Readonly<Record<Via, number>>;
  /** Whether a key or a client that would be refused is read anew, so that what makes it work is seen at once. */
  readonly isRefusalReadAnew: boolean;
  /** Whether a row that one response has shown is shown by every later one, even if its write is not acknowledged yet. */
  readonly isMonotonic: boolean;
  /** How many times its limit a client may get in a minute with these faults of Redis and of instances. */
  readonly timesTheLimit: (faults: readonly Fault[], instances: number) => number;
  /** Counts of this time before an instance is killed may be lost; 0 where Redis has them. */
  readonly lostCountsMs: number;
}

/** Columns of the table: this build, and the next. */
type Column = 'today' | 'next';

/** Which column of the table is checked. */
export const COLUMN: Column = 'today';

/** The clocks of two processes differ by little. */
const AT_ONCE = { http: 0, command: 0, sql: 0, time: 250 };
const WITHIN_A_SECOND = { ...AT_ONCE, http: 1_000, command: 1_000, sql: 1_000 };
/** A busy machine writes the counts of the last second later. */
const SQLITE = { isMonotonic: true, isRefusalReadAnew: true, lostCountsMs: 3_000, timesTheLimit: () => 1 };

/** The promises: docs/operations/instances.md, docs/operations/postgresql.md and docs/reliability.md. */
const TABLE: Readonly<Record<Column, Readonly<Record<Topology, Promises>>>> = {
  today: {
    postgres: {
      rowsMs: AT_ONCE,
      keysMs: WITHIN_A_SECOND,
      isMonotonic: true,
      isRefusalReadAnew: true,
      timesTheLimit: todayWithRedis,
      lostCountsMs: 0,
    },
    sqlite: { ...SQLITE, rowsMs: AT_ONCE, keysMs: WITHIN_A_SECOND },
  },
  next: {
    postgres: {
      rowsMs: AT_ONCE,
      keysMs: WITHIN_A_SECOND,
      isMonotonic: true,
      isRefusalReadAnew: true,
      timesTheLimit: nextWithRedis,
      lostCountsMs: 0,
    },
    sqlite: { ...SQLITE, rowsMs: AT_ONCE, keysMs: WITHIN_A_SECOND },
  },
};

/** Longest time to a response, in milliseconds. */
export const LONGEST_REQUEST_MS = 15_000;
/** Longest time after the last fault until every instance serves again, in milliseconds, on a busy machine. */
export const HEALS_WITHIN_MS = 30_000;

/** The promises that are checked. */
export function promisesOf(topology: Topology): Promises {
  return TABLE[COLUMN][topology];
}

/** Faults of Redis, and what of them the instances noticed by themselves: that it was late on a busy machine. */
function failuresOfRedis(faults: readonly Fault[]): number {
  const made = faults.filter(({ kind }) => /^redis (?:killed|paused|flushed)$/.test(kind));
  const alone = faults.filter(({ kind }) => kind === 'redis alone');
  return made.length + alone.filter((one) => !made.some((other) => overlap(one, other))).length;
}

/** Whether an instance began while Redis was away: it knew neither the others nor what was used. */
function beganAlone(faults: readonly Fault[]): boolean {
  const away = faults.filter(({ kind }) => /^redis (?:killed|paused|alone)$/.test(kind));
  return faults.some((one) => one.kind.startsWith('instance') && away.some((other) => overlap(one, other)));
}

/** Evenly spread, 1.2 for each fault of Redis, at most 2; 2 where one instance was away, too. */
function todayWithRedis(faults: readonly Fault[], instances: number): number {
  const failures = failuresOfRedis(faults);
  if (failures === 0) return 1;
  if (beganAlone(faults)) return instances;
  return faults.some(({ kind }) => kind.startsWith('instance')) ? 2 : Math.min(2, 1 + 0.2 * failures);
}

function nextWithRedis(faults: readonly Fault[], instances: number): number {
  if (failuresOfRedis(faults) === 0) return 1;
  const losses = faults.filter(({ kind }) => kind === 'redis killed' || kind === 'redis flushed').length;
  return (beganAlone(faults) ? Math.max(2, instances) : 2) + losses;
}
