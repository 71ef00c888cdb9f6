import type { Sweep } from '../../database/sweeper.js';
import { DAY_MS } from '../../core/time/duration.js';
import { KeyBan, QuotaCount, QuotaMinute } from './quota-journal.entity.js';

/** The counts of a client. Its first request of the day waits for this, so it runs on the connection for reads. */
export const USED = `SELECT
  coalesce((SELECT used FROM quota_minutes WHERE key = ?1 AND window_start = ?2), 0) AS minute,
  coalesce((SELECT used FROM quota_counts WHERE key = ?1 AND window_start = ?3), 0) AS day`;

/** Adds to the stored counts, so that several processes on one database count together. SQLite requires the WHERE before ON CONFLICT. */
export const ADD_DAYS = (rows: string): string => `
  INSERT INTO quota_counts (key, window_start, used)
  SELECT value ->> 'key', CAST(value ->> 'dayStart' AS BIGINT), CAST(value ->> 'inDay' AS INTEGER) FROM ${rows} AS counted WHERE true
  ON CONFLICT (key, window_start) DO UPDATE SET used = quota_counts.used + excluded.used`;

/** One row per client, reset at the first request of each minute. */
export const ADD_MINUTES = (rows: string): string => `
  INSERT INTO quota_minutes (key, window_start, used)
  SELECT value ->> 'key', CAST(value ->> 'minuteStart' AS BIGINT), CAST(value ->> 'inMinute' AS INTEGER) FROM ${rows} AS counted WHERE true
  ON CONFLICT (key) DO UPDATE SET window_start = excluded.window_start, used = excluded.used +
    CASE WHEN quota_minutes.window_start = excluded.window_start THEN quota_minutes.used ELSE 0 END`;

/**
 * Stores the latest state of each key, unless its ban was lifted after `knownLift`, the last lift that this process knows of. Does not
 * change `lifted_at`, because another process may not have read it yet.
 */
export const UPSERT_BANS = (rows: string): string => `
  INSERT INTO key_bans (key_id, retry_at, forgiven_until, strikes, last_strike_at, bans, banned_until, lifted_at)
  SELECT value ->> 'keyId', CAST(value ->> 'retryAt' AS BIGINT), CAST(value ->> 'forgivenUntil' AS BIGINT),
    CAST(value ->> 'strikes' AS INTEGER), CAST(value ->> 'lastStrikeAt' AS BIGINT), CAST(value ->> 'bans' AS INTEGER),
    CAST(value ->> 'bannedUntil' AS BIGINT), 0 FROM ${rows} AS banned
  WHERE NOT EXISTS (SELECT 1 FROM key_bans WHERE key_id = value ->> 'keyId' AND lifted_at > CAST(value ->> 'knownLift' AS BIGINT))
  ON CONFLICT (key_id) DO UPDATE SET retry_at = excluded.retry_at, forgiven_until = excluded.forgiven_until,
    strikes = excluded.strikes, last_strike_at = excluded.last_strike_at, bans = excluded.bans, banned_until = excluded.banned_until`;

const pastCounts = (entity: Sweep['entity']): Sweep => ({
  entity,
  where: 'window_start < :oldest',
  parameters: (now, { usageRetentionDays }) => ({
    oldest: (Math.floor(now / DAY_MS) - usageRetentionDays) * DAY_MS,
  }),
});

/** Counts older than USAGE_RETENTION_DAYS, and bans that no longer matter. */
export const QUOTA_SWEEPS: readonly Sweep[] = [
  pastCounts(QuotaCount),
  pastCounts(QuotaMinute),
  // No ban or wait is in effect, and the count of bans would be reset.
  {
    entity: KeyBan,
    where: 'banned_until <= :now AND retry_at <= :now AND last_strike_at <= :dayAgo AND lifted_at <= :dayAgo',
    parameters: (now) => ({ now, dayAgo: now - DAY_MS }),
  },
  // Written while the clock was ahead. No ban or wait is longer than a day, so they are shortened to a day.
  {
    entity: KeyBan,
    where:
      'banned_until > :longest OR retry_at > :longest OR last_strike_at > :longest OR lifted_at > :longest',
    parameters: (now) => ({ longest: now + DAY_MS }),
    set: (now) => ({
      bannedUntil: () =>
        `CASE WHEN banned_until < ${now + DAY_MS} THEN banned_until ELSE ${now + DAY_MS} END`,
      retryAt: now,
      lastStrikeAt: now,
      liftedAt: 0,
    }),
  },
];
