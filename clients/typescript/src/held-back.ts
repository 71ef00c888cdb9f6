import { refusalWith } from './answers.js';
import type { PetstoreError } from './errors.js';

interface Hold {
  readonly apiKey: string;
  /** By the clock that is never set, in milliseconds. */
  readonly until: number;
  readonly refusal: PetstoreError;
}

/** The bound of a ban: a banned key is refused whatever it asks for, except where the document says that it is answered. */
const BAN = 'ban';

/**
 * What a 429 holds back: until its `Retry-After` is over no other call of the client is sent for the same bound, since the service
 * takes going on as a reason to ban the key. Another key is not held back.
 */
export class HeldBack {
  private readonly holds = new Map<string, Hold>();

  /** Notes a refusal with 429 of an operation that counts for a bound. */
  note(refusal: PetstoreError, bound: string | undefined, apiKey: string, now: number): void {
    if (refusal.status !== 429 || refusal.retryAfterMs === undefined || bound === undefined) return;
    const name = refusal.code === 'api_key_banned' ? BAN : bound;
    const until = now + refusal.retryAfterMs;
    const known = this.holds.get(name);
    if (!known || known.apiKey !== apiKey || known.until < until)
      this.holds.set(name, { apiKey, until, refusal });
  }

  /** The refusal that a call would meet now, with what is left of its wait; undefined when nothing holds it back. */
  refusalNow(bounds: readonly string[], apiKey: string, now: number): PetstoreError | undefined {
    let held: Hold | undefined;
    for (const bound of bounds) {
      const hold = this.holds.get(bound);
      if (hold?.apiKey === apiKey && hold.until > (held?.until ?? now)) held = hold;
    }
    if (!held) return undefined;
    return refusalWith({ ...fieldsOf(held.refusal), retryAfterMs: held.until - now });
  }
}

function fieldsOf({ code, message, status, details, requestId, help, retryAfterMs }: PetstoreError) {
  return { code, message, status, details, requestId, help, retryAfterMs };
}
