import { defineEvent } from '../events/domain-events.js';

/** A key that was temporarily banned because it kept sending requests after 429. */
export interface ApiKeyBanned {
  readonly keyId: string;
  readonly clientId: string;
  /** ISO 8601 text in UTC. */
  readonly bannedUntil: string;
}

/** A key was banned. */
export const API_KEY_BANNED = defineEvent<ApiKeyBanned>('api_key.banned');

/** A client has used a share of a window. */
export interface QuotaThreshold {
  readonly clientId: string;
  /** `minute` or `day`. */
  readonly window: string;
  /** 80 or 100. */
  readonly percent: number;
  /** Requests allowed in the window. */
  readonly limit: number;
  /** Requests admitted in the window so far. */
  readonly used: number;
  /** When the full limit is available again; ISO 8601 text in UTC. */
  readonly resetsAt: string;
}

/** A client has used a share of a window. Published once by each process that detects it, and again after a restart within the window. */
export const QUOTA_THRESHOLD = defineEvent<QuotaThreshold>('quota.threshold');
