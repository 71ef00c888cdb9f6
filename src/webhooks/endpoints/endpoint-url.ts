import type { FaultDetail } from '../../core/errors/api-error.js';
import type { WebhookAddresses } from '../webhook-addresses.js';

/** Most characters of the address of an endpoint. */
export const LONGEST_URL = 2_048;

/**
 * What is wrong with the URL of an endpoint, for the field `url`; empty for one that messages can be sent to. What a name
 * resolves to is found out at each attempt, and refused there.
 */
export function urlFaults(url: string, addresses: WebhookAddresses): FaultDetail[] {
  const fault = addresses.faultOfUrl(url);
  return fault ? [{ field: 'url', ...fault }] : [];
}

/** What may be shown of a URL beside its endpoint, such as in the audit trail: paths and queries of many hold a secret. */
export function originOf(url: string): string {
  return new URL(url).origin;
}
