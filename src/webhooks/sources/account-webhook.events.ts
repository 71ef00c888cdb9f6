import { defineWebhookEvent } from '../webhook-events.js';

/** A key, as people tell it from others; never its secret. */
interface TheKey {
  readonly keyId: string;
  readonly prefix: string;
  readonly label: string | null;
}

/** A key that ends soon. Instants are ISO 8601 text in UTC. */
export interface ApiKeyExpiring extends TheKey {
  /** How long before its end this is told: `7d` or `1d`. */
  readonly notice: string;
  readonly expiresAt: string;
  /** The key that it was rotated to, which takes its place; null if it was not. */
  readonly replacedBy: string | null;
}

/** A key that is refused for a while. */
export interface ApiKeyIsBanned extends TheKey {
  /** ISO 8601 text in UTC. */
  readonly bannedUntil: string;
}

/** A share of a window of the client's quota that is used up. */
export interface QuotaThresholdReached {
  /** `minute` or `day`. */
  readonly window: string;
  /** 80 or 100. */
  readonly percent: number;
  /** Requests allowed in the window. */
  readonly limit: number;
  /** Requests admitted in it when this was found out. */
  readonly used: number;
  /** When the window is full again; ISO 8601 text in UTC. */
  readonly resetsAt: string;
}

/** A key of the client ends soon. */
export const API_KEY_EXPIRING = defineWebhookEvent<ApiKeyExpiring>('api_key.expiring', {
  description:
    'One of your keys expires within 7 days, and again within 1 day; not for keys issued for a shorter time. `data`: ' +
    '`keyId`, `prefix`, `label`, `notice` (`7d` or `1d`), `expiresAt`, and `replacedBy`, the key that it was rotated to.',
});

/** A key of the client was banned. */
export const WEBHOOK_API_KEY_BANNED = defineWebhookEvent<ApiKeyIsBanned>('api_key.banned', {
  description:
    'One of your keys was banned for a while, because it kept sending after 429. `data`: `keyId`, `prefix`, `label`, `bannedUntil`.',
});

/** The client has used up a share of a window. */
export const WEBHOOK_QUOTA_THRESHOLD = defineWebhookEvent<QuotaThresholdReached>('quota.threshold', {
  description:
    'You have used 80 % or all of the requests of a minute or a day; once per window, limit and percentage. `data`: `window` ' +
    '(`minute` or `day`), `percent` (80 or 100), `limit`, `used`, `resetsAt`.',
});
