import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import type { KnownCount } from './known-counts.js';

/** Notes what was left at the failure of Redis with this number, once: until all instances are back, each admits its share of it. */
export function divide(known: readonly KnownCount[], failure: number): void {
  for (const count of known) {
    const { seen, handedOver, divided } = count;
    if (divided?.failure !== failure) count.divided = { failure, seen, handedOver };
  }
}

/**
 * The request with the limits that this instance applies while Redis is away or instances are: of each window, its share of what was
 * left when Redis failed, plus what it had admitted by itself before and handed over. The share is 0 if nothing was left, else at least 1.
 */
export function shareOf(
  request: QuotaRequest,
  known: readonly KnownCount[],
  instances: number,
): QuotaRequest {
  const windows = request.windows.map((window, index) => {
    const { seen = 0, handedOver = 0 } = known[index]?.divided ?? known[index] ?? {};
    const left = window.limit - seen;
    return { ...window, limit: handedOver + (left > 0 ? Math.max(1, Math.floor(left / instances)) : 0) };
  });
  return { ...request, windows };
}

/**
 * The verdict on such a request as it is reported to the client: the limit is the share of the plan that this instance may admit
 * in a whole window, the remaining number is that of the decision.
 */
export function reportedVerdict(
  verdict: QuotaVerdict,
  request: QuotaRequest,
  instances: number,
): QuotaVerdict {
  const windows = verdict.windows.map((state, index) => {
    const limit = Math.max(1, Math.floor((request.windows[index]?.limit ?? state.limit) / instances));
    return { ...state, limit, used: limit - state.remaining };
  });
  return { ...verdict, windows };
}
