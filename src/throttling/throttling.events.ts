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
