import type { ThrottlerStorage } from '@nestjs/throttler';
import type { QuotaVerdict, QuotaWindow } from './quota.js';

/**
 * Counts requests. It stands behind @nestjs/throttler's storage token; provide another class there to count
 * elsewhere. `increment` serves code that uses throttler's own guard.
 */
export abstract class QuotaStore implements ThrottlerStorage {
  /**
   * Admits the request if every window has room, and only then counts it, in all of them; atomic.
   * `now` is in ms since the Unix epoch.
   */
  abstract take(windows: readonly QuotaWindow[], now: number): QuotaVerdict | Promise<QuotaVerdict>;

  /** The same verdict without counting anything. */
  abstract peek(windows: readonly QuotaWindow[], now: number): QuotaVerdict | Promise<QuotaVerdict>;

  abstract increment: ThrottlerStorage['increment'];
}
