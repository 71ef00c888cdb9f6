import { createHmac, randomBytes } from 'node:crypto';
import type { PreviousSecret } from './webhook-endpoint.entity.js';

const PREFIX = 'whsec_';

/** Generates a secret: `whsec_` and 32 random bytes in Base64. */
export function newWebhookSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** The rotated secrets that still sign at a time in ms since the Unix epoch. */
export function signing(previous: readonly PreviousSecret[], now: number): PreviousSecret[] {
  return previous.filter(({ until }) => Date.parse(until) > now);
}

/**
 * The value of `webhook-signature`: one signature per secret (Standard Webhooks 1.0, "Signature scheme"). `timestamp` is in Unix seconds.
 */
export function webhookSignature(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
