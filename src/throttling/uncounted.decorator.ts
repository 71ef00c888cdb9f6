import { type OperationLimit, declaring } from '../core/declared-operation.js';
import { MINUTE_MS } from '../core/time/duration.js';
import type { QuotaSubject, QuotaWindow } from './quota.js';

/**
 * Excludes an operation from the caller's quota: it uses no request, and works when the quota is used up and, unless `refusesBanned`, while
 * the key is banned. It has its own limit instead, a fixed window in the quota store. Its headers show the quota.
 */
export function Uncounted(operationLimit: OperationLimit): ClassDecorator & MethodDecorator {
  return declaring({ operationLimit });
}

/** The windows that count a subject's uncounted requests. */
export function windowsOfLimit(
  { name, perMinute, per, perClient }: OperationLimit,
  { id, keyId }: QuotaSubject,
): QuotaWindow[] {
  const ofKey = per === 'key' && keyId !== undefined ? `:${keyId}` : '';
  const window = { key: `${id}:${name}${ofKey}`, name, limit: perMinute, lengthMs: MINUTE_MS };
  if (perClient === undefined) return [window];
  return [window, { ...window, key: `${id}:${name}:client`, name: `${name}-client`, limit: perClient }];
}
