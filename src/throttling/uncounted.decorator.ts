import { SetMetadata } from '@nestjs/common';
import { MINUTE_MS, type QuotaSubject, type QuotaWindow } from './quota.js';

/** Metadata key of `@Uncounted()`. */
export const UNCOUNTED = 'petstore:uncounted';

/** How often operations that no quota counts may be called. */
export interface UncountedBound {
  /** Name of the window in `RateLimit-Policy`; operations with the same name are counted together. */
  readonly name: string;
  /** Requests in one UTC minute. */
  readonly perMinute: number;
  /** Whose requests are counted together: those of all keys of a client, or those of each key. */
  readonly per: 'client' | 'key';
  /** What the operations do, for the message of a refusal: `to read the account`. */
  readonly what: string;
  /** Whether a key that is banned is refused as elsewhere, because the operation would give it another; default: it is answered. */
  readonly refusesBanned?: boolean;
}

/**
 * Keeps an operation out of the caller's quota: it uses up no request, and it is answered when none is left and, unless it
 * `refusesBanned`, while the key is banned. It has a bound of its own instead, one fixed window held where the quotas are. Its headers tell the quota as it stands.
 */
export function Uncounted(bound: UncountedBound): ClassDecorator & MethodDecorator {
  return SetMetadata(UNCOUNTED, bound);
}

/** The window that a request of a subject must find room in. */
export function windowOfBound({ name, perMinute, per }: UncountedBound, subject: QuotaSubject): QuotaWindow {
  const ofKey = per === 'key' && subject.keyId !== undefined ? `:${subject.keyId}` : '';
  return { key: `${subject.id}:${name}${ofKey}`, name, limit: perMinute, lengthMs: MINUTE_MS };
}
