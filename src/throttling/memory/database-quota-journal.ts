import { Injectable } from '@nestjs/common';
import { DataSource, MoreThan, type EntityManager } from 'typeorm';
import { DAY_MS } from '../quota.js';
import { KeyBan } from './key-ban.entity.js';
import { QuotaJournal, type BanChange, type CountChange } from './quota-journal.js';
import { QuotaCount } from './quota-count.entity.js';

/** Rows per statement, well below the values that SQLite and PostgreSQL take in one. */
const BATCH = 500;
/** How long counts of past days are kept, in milliseconds. */
const KEPT_MS = 90 * DAY_MS;

/** The journal in the service's database. */
@Injectable()
export class DatabaseQuotaJournal extends QuotaJournal {
  private oldestKept = 0;

  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async used(key: string, start: number): Promise<number> {
    const row = await this.dataSource.manager.findOneBy(QuotaCount, { key, windowStart: BigInt(start) });
    return row?.used ?? 0;
  }

  async bans(now: number): Promise<BanChange[]> {
    const since = BigInt(now - DAY_MS);
    const rows = await this.dataSource.manager.find(KeyBan, {
      where: [
        { bannedUntil: MoreThan(BigInt(now)) },
        { lastStrikeAt: MoreThan(since) },
        { retryAt: MoreThan(BigInt(now)) },
      ],
    });
    return rows.map(({ keyId, strikes, bans, ...row }) => ({
      keyId,
      state: {
        retryAt: Number(row.retryAt),
        forgivenUntil: Number(row.forgivenUntil),
        strikes,
        lastStrikeAt: Number(row.lastStrikeAt),
        bans,
        bannedUntil: Number(row.bannedUntil),
      },
    }));
  }

  async liftedSince(instant: number): Promise<string[]> {
    const rows = await this.dataSource.manager.findBy(KeyBan, { liftedAt: MoreThan(BigInt(instant)) });
    return rows.map(({ keyId }) => keyId);
  }

  async write(counts: readonly CountChange[], bans: readonly BanChange[]): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      for (let at = 0; at < counts.length; at += BATCH)
        await this.addCounts(manager, counts.slice(at, at + BATCH));
      for (let at = 0; at < bans.length; at += BATCH) await this.putBans(manager, bans.slice(at, at + BATCH));
      await this.dropOld(manager, counts);
    });
  }

  async lift(keyId: string, now: number): Promise<void> {
    const nothing = {
      retryAt: 0n,
      forgivenUntil: 0n,
      strikes: 0,
      lastStrikeAt: 0n,
      bans: 0,
      bannedUntil: 0n,
    };
    await this.dataSource.manager.upsert(KeyBan, { keyId, ...nothing, liftedAt: BigInt(now) }, ['keyId']);
  }

  /** Adds, where an upsert of TypeORM would replace: two processes on one database then count together. */
  private async addCounts(manager: EntityManager, counts: readonly CountChange[]): Promise<void> {
    const values = counts.flatMap(({ key, start, added }) => [key, start, added]);
    const place = (index: number): string => this.dataSource.driver.createParameter('', index);
    const rows = counts.map((_, row) => `(${place(row * 3)}, ${place(row * 3 + 1)}, ${place(row * 3 + 2)})`);
    await manager.query(
      `INSERT INTO quota_counts (key, window_start, used) VALUES ${rows.join(', ')}
       ON CONFLICT (key, window_start) DO UPDATE SET used = quota_counts.used + excluded.used`,
      values,
    );
  }

  private async putBans(manager: EntityManager, bans: readonly BanChange[]): Promise<void> {
    const rows = bans.map(({ keyId, state }) => ({
      keyId,
      strikes: state.strikes,
      bans: state.bans,
      retryAt: BigInt(state.retryAt),
      forgivenUntil: BigInt(state.forgivenUntil),
      lastStrikeAt: BigInt(state.lastStrikeAt),
      bannedUntil: BigInt(state.bannedUntil),
      liftedAt: 0n,
    }));
    await manager.upsert(KeyBan, rows, ['keyId']);
  }

  /** Once a day, when the first count of a new day is written. */
  private async dropOld(manager: EntityManager, counts: readonly CountChange[]): Promise<void> {
    const oldest = Math.max(0, ...counts.map(({ start }) => start)) - KEPT_MS;
    if (oldest <= this.oldestKept) return;
    this.oldestKept = oldest;
    await manager.query(
      `DELETE FROM quota_counts WHERE window_start < ${this.dataSource.driver.createParameter('', 0)}`,
      [oldest],
    );
  }
}
