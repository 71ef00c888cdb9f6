/** The fastest and the slowest bucket: up to 0.25 ms, and above 16 s. */
const [FIRST, LAST] = [-2, 15];

/** All buckets. */
export const BUCKETS: readonly number[] = Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at);

/** The histogram bucket of a duration: number n holds those above 2ⁿ⁻¹ up to 2ⁿ milliseconds. */
export function bucketOf(ms: number): number {
  return Math.min(LAST, Math.max(FIRST, Math.ceil(Math.log2(ms))));
}

/** The quantile of a histogram in milliseconds; null without requests. Interpolates linearly within a bucket, like Prometheus. */
export function quantile(share: number, buckets: ReadonlyMap<number, number>): number | null {
  const total = [...buckets.values()].reduce((sum, requests) => sum + requests, 0);
  let below = 0;
  for (const [bucket, requests] of [...buckets].toSorted(([a], [b]) => a - b)) {
    const [upper, within] = [2 ** bucket, (share * total - below) / requests];
    const lower = bucket === FIRST ? 0 : upper / 2;
    if (within <= 1) return Math.round((lower + (upper - lower) * within) * 100) / 100;
    below += requests;
  }
  return null;
}
