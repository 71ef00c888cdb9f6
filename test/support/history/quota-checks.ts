import { AFTER_FAULT_MS, type Counted, type Fault, type History, overlap, time } from './history.js';
import type { Promises } from './promises.js';

const MINUTE_MS = 60_000;

/** Minutes in which a client was admitted more often than its limit or refused below it, and counts that two requests share. */
export function brokenQuotas(history: History, promises: Promises): string[] {
  const steps = history.faults.filter(({ kind }) => kind === 'clock set');
  const firstStep = Math.min(Infinity, ...steps.map(({ start }) => start));
  const before = history.counted.filter(({ end }) => end < firstStep);
  const resets = new Set(before.filter(isDecided).map(({ reset }) => reset));
  return [
    ...[...resets].flatMap((reset) => brokenMinute(history, promises, before, reset)),
    ...(steps.length > 0 ? brokenAfterSteps(history, promises, firstStep, steps.length) : []),
  ];
}

/**
 * When the clock is set, the minutes change: admissions are added up over all of them. Each change of the clock may start a minute again.
 */
function brokenAfterSteps(history: History, promises: Promises, firstStep: number, steps: number): string[] {
  const admitted = history.counted.filter((one) => isAdmitted(one) && one.end >= firstStep);
  const minutes = Math.ceil(((admitted.at(-1)?.end ?? 0) - firstStep) / MINUTE_MS) + 1;
  const most = history.limit * (minutes + steps) + lostCounts(admitted, history.faults, promises);
  return admitted.length > most ? [`${admitted.length} were admitted under other clocks, not ${most}`] : [];
}

function brokenMinute(
  { faults, limit, instances }: History,
  promises: Promises,
  counted: readonly Counted[],
  reset: number,
): string[] {
  const minute = { start: reset - MINUTE_MS, end: reset };
  const within = faults.filter((fault) => overlap(fault, minute, AFTER_FAULT_MS));
  const disturbances = within.filter((fault) => isDisturbing(fault, promises));
  const untilDisturbed = Math.min(Infinity, ...disturbances.map(({ start }) => start));
  const all = counted.filter((one) => isDecided(one) && one.reset === reset);
  const admitted = all.filter(isAdmitted);
  const most = limit * promises.timesTheLimit(within, instances) + lostCounts(admitted, within, promises);
  const exact = all.filter(({ end }) => end < untilDisturbed);
  const left = exact.filter(isAdmitted).map(({ remaining }) => remaining);
  // A request without a response, or with an unexpected one, may have been counted.
  const maybe = counted.filter((one) => !isDecided(one) && overlap(one, minute));
  const isEarly = ({ status, end }: Counted) =>
    status === 429 && [...admitted, ...maybe].filter(({ start }) => start < end).length < limit;
  return [
    ...(admitted.length > most ? [`${admitted.length} were admitted, not ${most}`] : []),
    ...left
      .filter((remaining, at) => left.indexOf(remaining) !== at)
      .map((remaining) => `two requests got the same count, ${remaining} left`),
    ...exact
      .filter(
        ({ status, ...one }) =>
          one.limit !== limit || (status === 200 ? one.remaining >= limit : one.remaining > 0),
      )
      .map((one) => `the headers say that ${one.remaining} of ${one.limit} are left`),
    ...exact.filter(isEarly).map(({ start }) => `a request at ${time(start)} was refused below the limit`),
  ].map((fault) => `in the minute until ${time(reset)} ${fault}`);
}

const isAdmitted = ({ status }: Counted): boolean => status === 200;
const isDecided = ({ status }: Counted): boolean => status === 200 || status === 429;

/** Whether counts may be inexact because of a fault in the minute. */
function isDisturbing({ kind }: Fault, { lostCountsMs }: Promises): boolean {
  return lostCountsMs === 0 ? kind.startsWith('redis') : kind === 'instance killed';
}

/** The number of requests whose counts may not have been written when an instance was killed. */
function lostCounts(
  admitted: readonly Counted[],
  faults: readonly Fault[],
  { lostCountsMs }: Promises,
): number {
  const kills = faults.filter(({ kind }) => kind === 'instance killed' && lostCountsMs > 0);
  return admitted.filter((one) =>
    kills.some((kill) => one.end > kill.start - lostCountsMs && one.start < kill.end),
  ).length;
}
