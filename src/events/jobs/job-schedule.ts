import { CLOCKS_DIFFER_MS } from '../../core/time/clock.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';

/** Minimum and maximum interval of a schedule, in milliseconds. */
const MIN_MS = 1_000;
const MAX_MS = 366 * DAY_MS;
/** Maximum time between retries of a failing job, in milliseconds. */
const MAX_RETRY_MS = 15 * MINUTE_MS;

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** When a job runs. */
export type JobSchedule =
  /** Interval in milliseconds, 1 s to 366 days. */
  | { readonly every: number; readonly at?: never }
  /** Daily at this time in UTC, such as `03:30`. */
  | { readonly at: string; readonly every?: never };

/** The error in a schedule, to complete "has …"; undefined if it is valid. */
export function scheduleError({ every, at }: JobSchedule): string | undefined {
  if (at !== undefined)
    return TIME.test(at) ? undefined : `at: "${at}", which is not a time in UTC from 00:00 to 23:59`;
  const isRight = Number.isSafeInteger(every) && every >= MIN_MS && every <= MAX_MS;
  return isRight
    ? undefined
    : `every: ${every}, which is not a whole number of milliseconds from 1 s (1_000) to 366 days`;
}

/**
 * The next due time after a run that was `due` at one time and started at another: the first time in the schedule after it started.
 * Starting late does not shift the schedule, and missed runs are not made up for. `due` may be in the future, if the clock was set back or
 * the job was run early.
 */
export function dueAfter({ every, at }: JobSchedule, due: number, startedAt: number): number {
  if (at === undefined) {
    const elapsed = (startedAt - due) % every;
    return startedAt + every - (elapsed < 0 ? elapsed + every : elapsed);
  }
  const [, hours, minutes] = TIME.exec(at) ?? [];
  const time = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  const today = Math.floor(startedAt / DAY_MS) * DAY_MS + time;
  return today > startedAt ? today : today + DAY_MS;
}

/**
 * Milliseconds until a failed job is retried: a minute, or its interval if shorter, doubled with each consecutive failure up to 15 minutes.
 */
export function retryDelay({ every = MINUTE_MS }: JobSchedule, failures: number): number {
  return Math.min(Math.min(every, MINUTE_MS) * 2 ** Math.min(failures - 1, 30), MAX_RETRY_MS);
}

/** Whether a job is due. It counts as due if its due time is so far away that the clock must have been set back. */
export function isDue(
  { every = DAY_MS }: JobSchedule,
  dueAt: number,
  failures: number,
  now: number,
): boolean {
  const max = (failures > 0 ? Math.max(every, MAX_RETRY_MS) : every) + CLOCKS_DIFFER_MS;
  return dueAt <= now || dueAt > now + max;
}
