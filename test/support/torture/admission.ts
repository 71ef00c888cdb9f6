import type { Ledger } from './ledger.js';

/** A time, in milliseconds of `performance.now()`. */
type Time = number;

/** A span of time in which the database could not be written to. */
export interface Span {
  readonly from: Time;
  readonly to: Time;
}

/** A crash loses the counts of at most its last second; where the machine is slow they are written later. */
const UNWRITTEN_MS = 3_000;

/** What was admitted to a client, in its fullest minute where nothing else is said. */
export interface Admission {
  /** As a multiple of its limit. */
  readonly factor: number;
  /** Requests over the limit that no lost count explains; 0 or less when all is well. */
  readonly unexplained: number;
  /** Requests in all minutes. */
  readonly total: number;
  /** Of those, how many lost counts may have forgotten. */
  readonly lost: number;
}

/**
 * Holds the windows of a client against its limit. Counts are lost that were not written when a process ended (`ends`):
 * those of its last moments, and those from a span before it in which nothing could be written.
 */
export function admissionOf(
  ledger: Ledger,
  client: string,
  limit: number,
  ends: readonly Time[],
  blocked: readonly Span[],
): Admission {
  const losses = ends.map((end) => ({ from: unwrittenSince(end, blocked), to: end }));
  let most = 0;
  let unexplained = -limit;
  let [total, allLost] = [0, 0];
  for (const times of ledger.windowsOf(client)) {
    const lost = times.filter((time) => losses.some(({ from, to }) => time >= from && time <= to)).length;
    most = Math.max(most, times.length);
    unexplained = Math.max(unexplained, times.length - lost - limit);
    total += times.length;
    allLost += lost;
  }
  return { factor: most / limit, unexplained, total, lost: allLost };
}

function unwrittenSince(end: Time, blocked: readonly Span[]): Time {
  const since = end - UNWRITTEN_MS;
  const before = blocked
    .filter(({ from, to }) => to >= since && from <= end)
    .map(({ from }) => from - UNWRITTEN_MS);
  return Math.min(since, ...before);
}
