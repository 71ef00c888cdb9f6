import { brokenResponses, brokenWrites, staleReads } from './checks.js';
import type { History } from './history.js';
import { HEALS_WITHIN_MS, type Promises } from './promises.js';
import { brokenQuotas } from './quota-checks.js';

/** Every promise that a history breaks, each as a sentence. */
export function brokenPromises(history: History, promises: Promises): string[] {
  return [
    ...brokenResponses(history),
    ...staleReads(history, promises),
    ...brokenWrites(history, promises),
    ...brokenQuotas(history, promises),
    ...history.heals
      .filter((ms) => ms > HEALS_WITHIN_MS)
      .map((ms) => `an instance wrote again only ${Math.round(ms)} ms after the last fault`),
  ];
}
