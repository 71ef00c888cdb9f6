import { CLOCKS_DIFFER_MS } from '../../core/time/clock.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';

/** Shortest and longest time between two runs, in milliseconds. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 366 * DAY_MS;
/** Longest time between two tries of a job that fails, in milliseconds. */
const LONGEST_RETRY_MS = 15 * MINUTE_MS;

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** When a job is run. */
export type JobSchedule =
  /** Milliseconds from one moment at which it is due to the next, 1 s to 366 days. */
  | { readonly every: number; readonly at?: never }
  /** Once a day at this time in UTC, such as `03:30`. */
  | { readonly at: string; readonly every?: never };

/** The fault of a schedule, in words that complete "has …"; undefined if it is valid. */
export function scheduleFault({ every, at }: JobSchedule): string | undefined {
  if (at !== undefined)
    return TIME.test(at) ? undefined : `at: "${at}", which is not a time in UTC from 00:00 to 23:59`;
  const isRight = Number.isSafeInteger(every) && every >= SHORTEST_MS && every <= LONGEST_MS;
  return isRight
    ? undefined
    : `every: ${every}, which is not a whole number of milliseconds from 1 s (1_000) to 366 days`;
}

/**
 * When a job is due after a run that was due at one instant and began at another: at the first moment of its schedule after the
 * begin. A run that begins late moves none of these moments, and those that it missed are not made up for. `due` may lie ahead:
 * the clock was put back, or someone had the job run before its time.
 */
export function dueAfter({ every, at }: JobSchedule, due: number, begun: number): number {
  if (at === undefined) {
    const sinceDue = (begun - due) % every;
    return begun + every - (sinceDue < 0 ? sinceDue + every : sinceDue);
  }
  const [, hours, minutes] = TIME.exec(at) ?? [];
  const time = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  const today = Math.floor(begun / DAY_MS) * DAY_MS + time;
  return today > begun ? today : today + DAY_MS;
}

/**
 * Milliseconds until a job that failed so many times in succession is tried again: a minute, or its period if that is
 * shorter, and twice as long each time up to a quarter of an hour.
 */
export function retryDelay({ every = MINUTE_MS }: JobSchedule, failures: number): number {
  return Math.min(Math.min(every, MINUTE_MS) * 2 ** Math.min(failures - 1, 30), LONGEST_RETRY_MS);
}

/** Whether a job is due; also when it is so late that the clock must have been put back since. */
export function isDue(
  { every = DAY_MS }: JobSchedule,
  dueAt: number,
  failures: number,
  now: number,
): boolean {
  const longest = (failures > 0 ? Math.max(every, LONGEST_RETRY_MS) : every) + CLOCKS_DIFFER_MS;
  return dueAt <= now || dueAt > now + longest;
}
