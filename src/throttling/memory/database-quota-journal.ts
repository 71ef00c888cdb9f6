import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, MoreThan, MoreThanOrEqual } from 'typeorm';
import { CacheNeutralWrites } from '../../database/cache-neutral-writes.js';
import { JsonReader } from '../../database/database.js';
import { type Sweep, Sweeper } from '../../database/sweeper.js';
import { neverRefused } from '../bans.js';
import { DAY_MS } from '../quota.js';
import { KeyBan, QuotaCount, QuotaMinute } from './quota-journal.entity.js';
import {
  type BanChange,
  type CountChange,
  type DayCount,
  type LiftedBan,
  QuotaJournal,
} from './quota-journal.js';

/** Rows per statement, well below the number of parameters that SQLite and PostgreSQL allow. */
const BATCH = 500;

/** What a client has used. Its first request of the day waits for this, so it runs on the connection for reads. */
const USED = `SELECT
  coalesce((SELECT used FROM quota_minutes WHERE key = ?1 AND window_start = ?2), 0) AS minute,
  coalesce((SELECT used FROM quota_counts WHERE key = ?1 AND window_start = ?3), 0) AS day`;

/** The journal in the service's database. */
@Injectable()
export class DatabaseQuotaJournal extends QuotaJournal {
  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    private readonly cacheNeutralWrites: CacheNeutralWrites,
    sweeper: Sweeper,
  ) {
    super();
    sweeper.add(pastCounts(QuotaCount), pastCounts(QuotaMinute), ENDED_BANS, BANS_OF_A_WRONG_CLOCK);
  }

  async used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }> {
    const row = await this.reader.first(USED, [key, minuteStart, dayStart]);
    return { minute: Number(row?.['minute']), day: Number(row?.['day']) };
  }

  async days(keys: readonly string[], since: number): Promise<DayCount[]> {
    const rows = await this.dataSource.manager.findBy(QuotaCount, {
      key: In(keys),
      windowStart: MoreThanOrEqual(since),
    });
    return rows.map(({ key, windowStart: start, used }) => ({ key, start, used }));
  }

  async bans(now: number): Promise<BanChange[]> {
    const rows = await this.dataSource.manager.find(KeyBan, {
      where: [
        { bannedUntil: MoreThan(now) },
        { lastStrikeAt: MoreThan(now - DAY_MS) },
        { retryAt: MoreThan(now) },
      ],
    });
    return rows.map(({ keyId, liftedAt: _, ...state }) => ({ keyId, state }));
  }

  async liftedSince(instant: number): Promise<LiftedBan[]> {
    const rows = await this.dataSource.manager.findBy(KeyBan, { liftedAt: MoreThan(instant) });
    return rows.map(({ keyId, liftedAt }) => ({ keyId, at: liftedAt }));
  }

  async write(counts: readonly CountChange[], bans: readonly BanChange[]): Promise<void> {
    await this.cacheNeutralWrites.run(async (manager) => {
      for (let at = 0; at < counts.length; at += BATCH) {
        const batch = counts.slice(at, at + BATCH);
        await this.addDays(manager, batch);
        await this.addMinutes(manager, batch);
      }
      for (let at = 0; at < bans.length; at += BATCH) await this.putBans(manager, bans.slice(at, at + BATCH));
    });
  }

  async lift(keyId: string, now: number): Promise<void> {
    await this.dataSource.manager.upsert(KeyBan, { keyId, ...neverRefused(), liftedAt: now }, ['keyId']);
  }

  /** Adds to what is stored, so that several processes on one database count together; TypeORM's upsert would overwrite it. */
  private async addDays(manager: EntityManager, counts: readonly CountChange[]): Promise<void> {
    const rows = counts.map(({ key, dayStart, inDay }) => [key, dayStart, inDay]);
    await manager.query(
      `INSERT INTO quota_counts (key, window_start, used) VALUES ${this.places(rows)}
       ON CONFLICT (key, window_start) DO UPDATE SET used = quota_counts.used + excluded.used`,
      rows.flat(),
    );
  }

  /** One row per client, which is set back at the first request of each minute. */
  private async addMinutes(manager: EntityManager, counts: readonly CountChange[]): Promise<void> {
    // At midnight a client may appear twice. One statement may update a row only once, so only the later entry is written.
    const latest = new Map(counts.map((change) => [change.key, change]));
    const rows = [...latest.values()].map(({ key, minuteStart, inMinute }) => [key, minuteStart, inMinute]);
    await manager.query(
      `INSERT INTO quota_minutes (key, window_start, used) VALUES ${this.places(rows)}
       ON CONFLICT (key) DO UPDATE SET window_start = excluded.window_start, used = excluded.used +
         CASE WHEN quota_minutes.window_start = excluded.window_start THEN quota_minutes.used ELSE 0 END`,
      rows.flat(),
    );
  }

  /** Placeholders for rows of values, such as `(?, ?), (?, ?)`, in the syntax of the database. */
  private places(rows: readonly (readonly unknown[])[]): string {
    let at = 0;
    const place = (): string => this.dataSource.driver.createParameter('', at++);
    return rows.map((row) => `(${row.map(place).join(', ')})`).join(', ');
  }

  private async putBans(manager: EntityManager, bans: readonly BanChange[]): Promise<void> {
    const rows = bans.map(({ keyId, state }) => ({ keyId, ...state, liftedAt: 0 }));
    // `lifted_at` is left alone: another process may not have read it yet.
    const columns = ['retry_at', 'forgiven_until', 'strikes', 'last_strike_at', 'bans', 'banned_until'];
    await manager
      .createQueryBuilder()
      .insert()
      .into(KeyBan)
      .values(rows)
      .orUpdate(columns, ['key_id'])
      .updateEntity(false)
      .execute();
  }
}

function pastCounts(entity: Sweep['entity']): Sweep {
  return {
    entity,
    where: 'window_start < :oldest',
    parameters: (now, { usageRetentionDays }) => ({
      oldest: (Math.floor(now / DAY_MS) - usageRetentionDays) * DAY_MS,
    }),
  };
}

/** Rows that `bans()` no longer returns: no ban and no wait is running, and the count of bans has been reset. */
const ENDED_BANS: Sweep = {
  entity: KeyBan,
  where: 'banned_until <= :now AND retry_at <= :now AND last_strike_at <= :dayAgo AND lifted_at <= :dayAgo',
  parameters: (now) => ({ now, dayAgo: now - DAY_MS }),
};

/** Rows written while the clock was ahead: no ban and no wait is longer than a day. They are cut to that length. */
const BANS_OF_A_WRONG_CLOCK: Sweep = {
  entity: KeyBan,
  where:
    'banned_until > :longest OR retry_at > :longest OR last_strike_at > :longest OR lifted_at > :longest',
  parameters: (now) => ({ longest: now + DAY_MS }),
  set: (now) => ({
    bannedUntil: () => `CASE WHEN banned_until < ${now + DAY_MS} THEN banned_until ELSE ${now + DAY_MS} END`,
    retryAt: now,
    lastStrikeAt: now,
    liftedAt: 0,
  }),
};
