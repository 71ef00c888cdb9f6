import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, In, MoreThan, MoreThanOrEqual } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { JsonReader } from '../../database/database.js';
import { runForRows } from '../../database/rows-as-json.js';
import { Sweeper } from '../../database/sweeper.js';
import { WriteBehind } from '../../database/write-behind.js';
import { type BanState, neverRefused } from '../bans.js';
import { DAY_MS } from '../../core/time/duration.js';
import { KeyBan, QuotaCount } from './quota-journal.entity.js';
import { ADD_DAYS, ADD_MINUTES, PUT_BANS, QUOTA_SWEEPS, USED } from './quota-journal.statements.js';

/** Overlap between two queries for lifted bans, in milliseconds, because the clocks of two processes may differ a little. */
const LIFTED_MARGIN_MS = 5_000;

/** Requests of a client since its counts were last written. */
interface CountChange {
  readonly key: string;
  /** Start of the latest minute with requests, in ms since the Unix epoch; `inMinute` is their number. */
  minuteStart: number;
  inMinute: number;
  /** Start of the day, in ms since the Unix epoch; `inDay` is the number of requests in it. */
  readonly dayStart: number;
  inDay: number;
}

/** Requests of a client in one UTC day. */
export interface DayCount {
  readonly key: string;
  /** Start of the day, in ms since the Unix epoch. */
  readonly start: number;
  readonly used: number;
}

/** The current strikes and ban of a key. */
export interface KeyBanState {
  readonly keyId: string;
  readonly state: BanState;
}

/** The store that decides by the bans in the journal. */
interface BanHolder {
  restoreBans(bans: readonly KeyBanState[], now: number): void;
  forgetBan(keyId: string): void;
}

/** Keeps counts and bans in the database over restarts, and finds bans that other processes have lifted. It is written every second. */
@Injectable()
export class QuotaJournal extends WriteBehind {
  /** Undefined if Redis has the bans; then the journal only keeps the counts of days for reports. */
  holder: BanHolder | undefined;
  /** What is not written yet, in one entry per day and client, or key, however many requests there are. */
  private counts = new Map<string, CountChange>();
  private bans = new Map<string, BanState>();
  /** When lifted bans were last queried, from when on, and the instants of those that were found, in ms since the Unix epoch. */
  private lookedAt = Number.POSITIVE_INFINITY;
  private lookedFrom = 0;
  private lifted = new Map<string, number>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly reader: JsonReader,
    transactions: Transactions,
    private readonly clock: Clock,
    sweeper: Sweeper,
  ) {
    super(transactions, new Logger('Quota'), {
      failing: 'Counters cannot be written; they are kept in memory',
      recovered: 'Counters can be written again',
    });
    sweeper.add(...QUOTA_SWEEPS);
  }

  /** Restores the bans, then writes every second. */
  override async onModuleInit(): Promise<void> {
    await this.restore();
    super.onModuleInit();
  }

  /** Restores the keys that are banned, have to wait, or had strikes within the last day. */
  async restore(): Promise<void> {
    if (!this.holder) return;
    const now = this.clock.now();
    const rows = await this.dataSource.manager.find(KeyBan, {
      where: [
        { bannedUntil: MoreThan(now) },
        { lastStrikeAt: MoreThan(now - DAY_MS) },
        { retryAt: MoreThan(now) },
      ],
    });
    const bans = rows.map(({ keyId, liftedAt: _, ...state }) => ({ keyId, state }));
    this.holder.restoreBans(bans, now);
  }

  /** Requests written so far for a client in the minute and the day with these starts. */
  async used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }> {
    const row = await this.reader.first(USED, [key, minuteStart, dayStart]);
    return { minute: Number(row?.['minute']), day: Number(row?.['day']) };
  }

  /** The written counts of clients per day since an instant; days without requests are left out. */
  async days(keys: readonly string[], since: number): Promise<DayCount[]> {
    const where = { key: In(keys), windowStart: MoreThanOrEqual(since) };
    const rows = await this.dataSource.manager.findBy(QuotaCount, where);
    return rows.map(({ key, windowStart: start, used }) => ({ key, start, used }));
  }

  /** Lifts a key's ban, at once and for other processes to see. */
  async lift(keyId: string, now: number): Promise<void> {
    await this.dataSource.manager.upsert(KeyBan, { keyId, ...neverRefused(), liftedAt: now }, ['keyId']);
    // Otherwise the next look would take it for that of another process, and forget a ban that has begun since.
    this.lifted.set(keyId, now);
  }

  /** Notes a request counted for a client in the minute and the day with these starts. */
  noteCount(key: string, minuteStart: number, dayStart: number): void {
    const id = `${dayStart} ${key}`;
    let change = this.counts.get(id);
    if (!change) this.counts.set(id, (change = { key, minuteStart, inMinute: 0, dayStart, inDay: 0 }));
    if (change.minuteStart !== minuteStart) Object.assign(change, { minuteStart, inMinute: 0 });
    change.inMinute += 1;
    change.inDay += 1;
  }

  /** Notes that a key was refused. */
  noteBan(keyId: string, state: BanState): void {
    this.bans.set(keyId, state);
  }

  /** Drops what was noted of a key. */
  forgetBan(keyId: string): void {
    this.bans.delete(keyId);
  }

  protected override async write(): Promise<void> {
    for (const keyId of await this.newlyLifted()) {
      this.holder?.forgetBan(keyId);
      this.forgetBan(keyId);
    }
    const { counts, bans } = this;
    if (counts.size + bans.size === 0) return;
    this.counts = new Map();
    this.bans = new Map();
    const byDay = [...counts.values()].toSorted((one, other) => one.dayStart - other.dayStart);
    // At midnight a client may appear twice. One statement may update a row only once, so only the later minute is written.
    const latest = new Map(byDay.map((change) => [change.key, change]));
    // A ban may be lifted by another process between the look and the write: the next look finds that.
    const knownLift = (keyId: string): number => this.lifted.get(keyId) ?? this.lookedFrom;
    const states = [...bans].map(([keyId, state]) => ({ keyId, ...state, knownLift: knownLift(keyId) }));
    const write = async (manager: EntityManager): Promise<void> => {
      await runForRows(manager, byDay, ADD_DAYS);
      await runForRows(manager, [...latest.values()], ADD_MINUTES);
      await runForRows(manager, states, PUT_BANS);
    };
    await this.commit(write, () => {
      for (const [id, change] of counts) this.putBack(id, change);
      for (const [keyId, state] of bans) if (!this.bans.has(keyId)) this.bans.set(keyId, state);
    });
  }

  /** Merges in a change that could not be written; a newer minute wins. */
  private putBack(id: string, change: CountChange): void {
    const newer = this.counts.get(id);
    if (!newer) return void this.counts.set(id, change);
    newer.inDay += change.inDay;
    if (newer.minuteStart === change.minuteStart) newer.inMinute += change.inMinute;
  }

  private async newlyLifted(): Promise<string[]> {
    if (!this.holder) return [];
    const now = this.clock.now();
    // The clock may have been set. After a step forward, a ban lifted just before has an old instant, so the query starts at the
    // earlier time; after a step back, one is found again and again, so those already handled are left out below.
    this.lookedFrom = Math.min(now, this.lookedAt) - LIFTED_MARGIN_MS;
    const found = await this.dataSource.manager.findBy(KeyBan, { liftedAt: MoreThan(this.lookedFrom) });
    const fresh = found.filter(({ keyId, liftedAt }) => this.lifted.get(keyId) !== liftedAt);
    this.lifted = new Map(found.map(({ keyId, liftedAt }) => [keyId, liftedAt]));
    this.lookedAt = now;
    return fresh.map(({ keyId }) => keyId);
  }
}
