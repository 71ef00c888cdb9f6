import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Clock } from '../clock.js';
import type { QuotaRequest, QuotaVerdict } from './quota.js';

/**
 * Decides and counts requests. It stands behind @nestjs/throttler's storage token; a class that extends it and
 * is provided there counts elsewhere. test/support/quota-store-suite.ts is the suite that every one must pass.
 */
export abstract class QuotaStore implements ThrottlerStorage {
  constructor(protected readonly clock: Clock) {}

  /**
   * Admits the request if its key is not banned and every window has room, and only then counts it, in all of
   * them; atomic. A refusal may be a strike against the key. `now` is in ms since the Unix epoch.
   */
  abstract take(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict>;

  /** How things stand, changing nothing. */
  abstract peek(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict>;

  /** Ends a key's ban and forgets its strikes. `subjectId` is that of the key's client; `now` as in `take`. */
  abstract unban(keyId: string, subjectId: string, now: number): Promise<void>;

  /**
   * The clock was set forward by `by` ms, back when negative: what lasts goes on for as long as it would have. A store whose
   * state is shared with others leaves it as it is.
   */
  clockStepped(_by: number): void {}

  /** Serves code that uses throttler's own guard with this store: one window, no key. */
  increment: ThrottlerStorage['increment'] = async (key, lengthMs, limit, _blockDuration, name) => {
    const verdict = await this.take(
      { subject: key, isClient: false, windows: [{ key, name, limit, lengthMs }] },
      this.clock.now(),
    );
    const [window] = verdict.windows;
    const secondsLeft = Math.ceil(((window?.resetsAt ?? verdict.at) - verdict.at) / 1000);
    return {
      totalHits: limit - (window?.remaining ?? 0),
      timeToExpire: secondsLeft,
      isBlocked: !verdict.admitted,
      timeToBlockExpire: verdict.admitted ? 0 : secondsLeft,
    };
  };
}
