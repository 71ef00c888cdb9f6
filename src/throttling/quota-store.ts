import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Clock } from '../core/time/clock.js';
import type { QuotaRequest, QuotaVerdict } from './quota.js';

/**
 * Decides and counts requests. It is provided under @nestjs/throttler's storage token; to store counts elsewhere, provide another subclass
 * under that token. Every subclass must pass test/support/quota-store-suite.ts.
 */
export abstract class QuotaStore implements ThrottlerStorage {
  constructor(protected readonly clock: Clock) {}

  /**
   * Atomically admits the request and counts it in all windows, provided that its key is not banned and every window has room. A refusal
   * may be a strike against the key. `now` is in ms since the Unix epoch.
   */
  abstract take(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict>;

  /** The decision that `take` would make now, without counting. */
  abstract peek(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict>;

  /** Lifts a key's ban and clears its strikes. `subjectId` is that of the key's client; `now` as for `take`. */
  abstract unban(keyId: string, subjectId: string, now: number): Promise<void>;

  /** Identifies the shared counts: the same for all instances that count together; undefined while this one counts on its own. */
  get countsIn(): string | undefined {
    return undefined;
  }

  /** Throttler's interface, so that its stock guard works with this store: one window, no API key. */
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
