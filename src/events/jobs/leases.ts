import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { Lease } from './lease.entity.js';

/** A lease that was not renewed for this time, in milliseconds, is free. */
export const LEASE_MS = 15_000;
/** The holder stops earlier, this time in milliseconds after its last renewal, because a busy process may be late. */
const VALIDITY_MS = 10_000;
/** Renewal interval, in milliseconds. */
const RENEWAL_MS = 3_000;

/**
 * Beats restart at 0 before this value, because the column has 32 bits, and a lease that is acquired for each event can have billions of
 * beats.
 */
const MAX_BEATS = 2_147_483_647;
const next = (beat: number): number => (beat + 1) % MAX_BEATS;

/** A lease held by this process. */
export interface HeldLease {
  /** Aborts when the lease is lost; the holder may use it to abort its work as well. */
  readonly abort: AbortController;
  /**
   * Drops a lease that was not renewed in time, for example after the process was suspended. Call it before starting work under the lease.
   */
  readonly check: () => void;
  /** Releases the lease. Never rejects, because a lease that cannot be released expires. */
  readonly release: () => Promise<void>;
}

interface Held {
  readonly name: string;
  readonly holder: string;
  readonly abort: AbortController;
  /** A time of the monotonic clock. */
  renewedAt: number;
  isRenewing: boolean;
}

/**
 * Lets one process at a time, among all that use the database, do something. A lease contains no timestamp, so it does not matter if clocks
 * differ or are set. Its holder changes the row every 3 s, and a process that sees it unchanged for 15 s of its monotonic clock takes it
 * over. A holder that could not renew it for 10 s stops first.
 */
@Injectable()
export class Leases {
  private readonly logger = new Logger('Jobs');
  private readonly held = new Set<Held>();
  private readonly observed = new Map<string, { readonly beat: number; readonly since: number }>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Acquires a lease; undefined while it is held by this process or another. Rejects if the database fails. */
  async acquire(name: string): Promise<HeldLease | undefined> {
    const held = await this.claim(name);
    if (!held) return undefined;
    this.held.add(held);
    this.timer ??= setInterval(() => void this.renewAll(), RENEWAL_MS).unref();
    return { abort: held.abort, check: () => void this.isInTime(held), release: () => this.release(held) };
  }

  /** Renews the leases of this process, as happens every 3 s. Never rejects. */
  async renewAll(): Promise<void> {
    await Promise.all([...this.held].map((held) => this.renew(held)));
  }

  private async claim(name: string): Promise<Held | undefined> {
    const row = await this.dataSource.manager.findOneBy(Lease, { name });
    if (row && row.holder !== null && !this.isAbandoned(row)) return undefined;
    const held: Held = {
      name,
      holder: randomUUID(),
      abort: new AbortController(),
      // Read before the write, so that this lease expires here before another process can take it over.
      renewedAt: this.clock.steady(),
      isRenewing: false,
    };
    const isAcquired = await this.transactions.uncached(async (manager) => {
      const values = { name, holder: null, beat: 0 };
      if (!row) await manager.createQueryBuilder().insert().into(Lease).values(values).orIgnore().execute();
      const beat = row?.beat ?? 0;
      const { affected } = await manager.update(
        Lease,
        { name, beat },
        { holder: held.holder, beat: next(beat) },
      );
      return affected === 1;
    });
    return isAcquired ? held : undefined;
  }

  /** Whether the row has not changed for the duration of a lease. */
  private isAbandoned({ name, beat }: Lease): boolean {
    const now = this.clock.steady();
    const observed = this.observed.get(name);
    if (observed?.beat === beat) return now - observed.since >= LEASE_MS;
    this.observed.set(name, { beat, since: now });
    return false;
  }

  private async renew(held: Held): Promise<void> {
    const startedAt = this.clock.steady();
    if (!this.isInTime(held)) return;
    if (held.isRenewing || held.abort.signal.aborted) return;
    held.isRenewing = true;
    try {
      if (await this.change(held, held.holder)) held.renewedAt = startedAt;
      else if (this.held.has(held)) this.onLost(held, 'another process took it over');
    } catch {
      // The database is unavailable. The next renewal tries again, and the reason is logged.
    } finally {
      held.isRenewing = false;
    }
  }

  private isInTime(held: Held): boolean {
    if (this.clock.steady() - held.renewedAt < VALIDITY_MS) return true;
    this.onLost(held, 'it could not be renewed in time');
    return false;
  }

  private onLost({ name, abort }: Held, reason: string): void {
    if (abort.signal.aborted) return;
    this.logger.warn(`The lease ${name} was lost: ${reason}. Its work was aborted`);
    abort.abort(new Error(`The lease ${name} was lost: ${reason}.`));
  }

  private async release(held: Held): Promise<void> {
    this.held.delete(held);
    if (this.held.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    await this.change(held, null).catch(() => undefined);
  }

  /** Changes the holder; returns whether the row was unchanged until then. */
  private change({ name, holder: before }: Held, holder: string | null): Promise<boolean> {
    return this.transactions.uncached(async (manager) => {
      const { affected } = await manager.update(
        Lease,
        { name, holder: before },
        { holder, beat: () => `(beat + 1) % ${MAX_BEATS}` },
      );
      return affected === 1;
    });
  }
}
