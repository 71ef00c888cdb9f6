import { defineEvent } from '../events/domain-events.js';

/** A key that was banned for a while, because it kept sending after 429. */
export interface ApiKeyBanned {
  readonly keyId: string;
  readonly clientId: string;
  /** ISO 8601 text in UTC. */
  readonly bannedUntil: string;
}

/** A key was banned. */
export const API_KEY_BANNED = defineEvent<ApiKeyBanned>('api_key.banned');

/** A share of a client's window that is used up. */
export interface QuotaThreshold {
  readonly clientId: string;
  /** `minute` or `day`. */
  readonly window: string;
  /** 80 or 100. */
  readonly percent: number;
  /** Requests allowed in the window. */
  readonly limit: number;
  /** Requests admitted in it so far. */
  readonly used: number;
  /** When the full limit is available again; ISO 8601 text in UTC. */
  readonly resetsAt: string;
}

/**
 * A client has used up a share of a window: published once by each process that notices it, and again after a restart within the window.
 */
export const QUOTA_THRESHOLD = defineEvent<QuotaThreshold>('quota.threshold');
