import { SetMetadata } from '@nestjs/common';
import { MINUTE_MS } from '../core/time/duration.js';
import type { QuotaSubject, QuotaWindow } from './quota.js';

/** Metadata key of `@Uncounted()`. */
export const UNCOUNTED = 'petstore:uncounted';

/** The rate limit of uncounted operations. */
export interface UncountedBound {
  /** Name of the window in `RateLimit-Policy`; operations with the same name are counted together. */
  readonly name: string;
  /** Requests in one UTC minute. */
  readonly perMinute: number;
  /** Whether all keys of a client share the limit, or each key has it. */
  readonly per: 'client' | 'key';
  /** Requests of all keys of a client together in one UTC minute, if each key has the limit; by default as many as its keys allow. */
  readonly perClient?: number;
  /** What the operations do, for the message of a refusal: `to read the account`. */
  readonly what: string;
  /** Whether a banned key is refused, because the operation would give it a new key; by default it is admitted. */
  readonly refusesBanned?: boolean;
}

/**
 * Excludes an operation from the caller's quota: it uses up no request, and works when the quota is used up and, unless it
 * `refusesBanned`, while the key is banned. It has a separate bound instead, a fixed window in the quota store. Its headers show the
 * quota.
 */
export function Uncounted(bound: UncountedBound): ClassDecorator & MethodDecorator {
  return SetMetadata(UNCOUNTED, bound);
}

/** The windows in which an uncounted request of a subject is counted. */
export function windowsOfBound(
  { name, perMinute, per, perClient }: UncountedBound,
  { id, keyId }: QuotaSubject,
): QuotaWindow[] {
  const ofKey = per === 'key' && keyId !== undefined ? `:${keyId}` : '';
  const window = { key: `${id}:${name}${ofKey}`, name, limit: perMinute, lengthMs: MINUTE_MS };
  if (perClient === undefined) return [window];
  return [window, { ...window, key: `${id}:${name}:client`, name: `${name}-client`, limit: perClient }];
}
