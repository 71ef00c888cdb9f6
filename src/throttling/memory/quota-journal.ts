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
import { ADD_DAYS, ADD_MINUTES, UPSERT_BANS, QUOTA_SWEEPS, USED } from './quota-journal.statements.js';

/** Overlap between two queries for lifted bans, in milliseconds, because clocks of processes may differ slightly. */
const LIFTED_MARGIN_MS = 5_000;

/** Requests of a client since its counts were last written. */
interface CountChange {
  readonly key: string;
  /** Start of the latest minute with requests, in ms since the Unix epoch; `inMinute` is their number. */
  minuteStart: number;
  inMinute: number;
  /** Start of the day, in ms since the Unix epoch; `inDay` is the number of its requests. */
  readonly dayStart: number;
  inDay: number;
}

/** Requests of a client in one UTC day. */
export interface DayCount {
  readonly key: string;
  /** In ms since the Unix epoch. */
  readonly start: number;
  readonly used: number;
}

/** The current strikes and ban of a key. */
export interface KeyBanState {
  readonly keyId: string;
  readonly state: BanState;
}

interface BanHolder {
  restoreBans(bans: readonly KeyBanState[], now: number): void;
  forgetBan(keyId: string): void;
}

/** Preserves counts and bans in the database across restarts, and detects bans lifted by other processes. It writes every second. */
@Injectable()
export class QuotaJournal extends WriteBehind {
  /** Undefined if Redis stores the bans; then the journal only stores daily counts for reports. */
  holder: BanHolder | undefined;
  /** Unwritten changes: one entry per day and client, or per key, however many requests there are. */
  private counts = new Map<string, CountChange>();
  private bans = new Map<string, BanState>();
  /** Time of the last query for lifted bans, the earliest time that it searched, and the times of the bans found, in ms since the Unix epoch. */
  private checkedAt = Number.POSITIVE_INFINITY;
  private checkedFrom = 0;
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

  /** Restores keys that are banned, have to wait, or had strikes within the last day. */
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

  /** Stored requests of a client in the minute and day that start at these times. */
  async used(key: string, minuteStart: number, dayStart: number): Promise<{ minute: number; day: number }> {
    const row = await this.reader.first(USED, [key, minuteStart, dayStart]);
    return { minute: Number(row?.['minute']), day: Number(row?.['day']) };
  }

  /** The stored daily counts of clients since a time, without days that have no requests. */
  async days(keys: readonly string[], since: number): Promise<DayCount[]> {
    const where = { key: In(keys), windowStart: MoreThanOrEqual(since) };
    const rows = await this.dataSource.manager.findBy(QuotaCount, where);
    return rows.map(({ key, windowStart: start, used }) => ({ key, start, used }));
  }

  /** Lifts a key's ban immediately and stores it for other processes. */
  async lift(keyId: string, now: number): Promise<void> {
    await this.dataSource.manager.upsert(KeyBan, { keyId, ...neverRefused(), liftedAt: now }, ['keyId']);
    // Otherwise the next query would attribute the lift to another process and drop a ban that started since.
    this.lifted.set(keyId, now);
  }

  /** Records a request of a client in the minute and day that start at these times. */
  noteCount(key: string, minuteStart: number, dayStart: number): void {
    const id = `${dayStart} ${key}`;
    let change = this.counts.get(id);
    if (!change) this.counts.set(id, (change = { key, minuteStart, inMinute: 0, dayStart, inDay: 0 }));
    if (change.minuteStart !== minuteStart) Object.assign(change, { minuteStart, inMinute: 0 });
    change.inMinute += 1;
    change.inDay += 1;
  }

  noteBan(keyId: string, state: BanState): void {
    this.bans.set(keyId, state);
  }

  /** Drops the recorded state of a key. */
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
    // At midnight a client may appear twice, but one statement can update a row only once. Only the later minute is written.
    const latest = new Map(byDay.map((change) => [change.key, change]));
    // If another process lifts a ban between this query and the write, the next query finds it.
    const knownLift = (keyId: string): number => this.lifted.get(keyId) ?? this.checkedFrom;
    const states = [...bans].map(([keyId, state]) => ({ keyId, ...state, knownLift: knownLift(keyId) }));
    const write = async (manager: EntityManager): Promise<void> => {
      await runForRows(manager, byDay, ADD_DAYS);
      await runForRows(manager, [...latest.values()], ADD_MINUTES);
      await runForRows(manager, states, UPSERT_BANS);
    };
    await this.commit(write, () => {
      for (const [id, change] of counts) this.requeue(id, change);
      for (const [keyId, state] of bans) if (!this.bans.has(keyId)) this.bans.set(keyId, state);
    });
  }

  /** Merges a change whose write failed; a newer minute takes precedence. */
  private requeue(id: string, change: CountChange): void {
    const newer = this.counts.get(id);
    if (!newer) return void this.counts.set(id, change);
    newer.inDay += change.inDay;
    if (newer.minuteStart === change.minuteStart) newer.inMinute += change.inMinute;
  }

  private async newlyLifted(): Promise<string[]> {
    if (!this.holder) return [];
    const now = this.clock.now();
    // The clock may have been set. After a step forward, a recently lifted ban has an old timestamp, so the query starts at the earlier
    // time. After a step back, the query keeps finding the same ban, so handled ones are skipped below.
    this.checkedFrom = Math.min(now, this.checkedAt) - LIFTED_MARGIN_MS;
    const found = await this.dataSource.manager.findBy(KeyBan, { liftedAt: MoreThan(this.checkedFrom) });
    const fresh = found.filter(({ keyId, liftedAt }) => this.lifted.get(keyId) !== liftedAt);
    this.lifted = new Map(found.map(({ keyId, liftedAt }) => [keyId, liftedAt]));
    this.checkedAt = now;
    return fresh.map(({ keyId }) => keyId);
  }
}
