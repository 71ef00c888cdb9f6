import { isAddress } from './quota-subject.js';
import { MINUTE_MS, type QuotaSubject, type QuotaVerdict } from './quota.js';

/** Headers and logging of a refused malformed request. */
export interface CountedRefusal {
  /** The rate-limit headers of its address. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to log it. */
  readonly isLogged: boolean;
}

/**
 * Limits what a client without a valid key can write to the log: beyond the limit of its address, one line a minute. Metrics count
 * every request.
 */
export class RefusedAddresses {
  private minute = Number.NaN;
  private readonly logged = new Set<string>();

  /** Whether to log the request of this verdict. */
  isLogged(subject: QuotaSubject, { admitted, at }: QuotaVerdict): boolean {
    if (admitted || !isAddress(subject)) return true;
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.minute) this.logged.clear();
    this.minute = minute;
    return this.logged.size !== this.logged.add(subject.id).size;
  }
}
