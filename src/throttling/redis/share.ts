import type { QuotaRequest, QuotaVerdict } from '../quota.js';
import type { KnownCount } from './known-counts.js';

/**
 * The request as this instance decides it alone: of each window, its part of what was left when Redis last answered,
 * beside what it has already admitted alone and told. Nothing where nothing was left, else at least 1.
 */
export function shareOf(
  request: QuotaRequest,
  known: readonly KnownCount[],
  instances: number,
): QuotaRequest {
  const windows = request.windows.map((window, index) => {
    const { seen = 0, handedOver = 0 } = known[index] ?? {};
    const left = window.limit - seen;
    return { ...window, limit: handedOver + (left > 0 ? Math.max(1, Math.floor(left / instances)) : 0) };
  });
  return { ...request, windows };
}

/**
 * What is told of such a decision: as the limit the part of the plan that this instance may admit in a whole window,
 * what remains as decided.
 */
export function toldOf(verdict: QuotaVerdict, request: QuotaRequest, instances: number): QuotaVerdict {
  const windows = verdict.windows.map((state, index) => {
    const limit = Math.max(1, Math.floor((request.windows[index]?.limit ?? state.limit) / instances));
    return { ...state, limit, used: limit - state.remaining };
  });
  return { ...verdict, windows };
}
