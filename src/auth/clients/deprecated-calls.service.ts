import { Injectable, Logger } from '@nestjs/common';
import { DataSource, In, MoreThanOrEqual } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { CacheNeutralWrites } from '../../database/cache-neutral-writes.js';
import { runForRows } from '../../database/rows-as-json.js';
import { Sweeper } from '../../database/sweeper.js';
import { WriteBehind } from '../../database/write-behind.js';
import { DAY_MS } from '../../throttling/quota.js';
import { DeprecatedCalls } from './deprecated-calls.entity.js';

/** Adds to what is stored, so that several processes count together. SQLite needs the WHERE before ON CONFLICT. */
const ADD_UP = (rows: string): string => `
  INSERT INTO deprecated_calls (client_id, operation, day, calls)
  SELECT value ->> 'clientId', value ->> 'operation', CAST(value ->> 'day' AS BIGINT), CAST(value ->> 'calls' AS INTEGER)
  FROM ${rows} AS counted WHERE true
  ON CONFLICT (client_id, operation, day) DO UPDATE SET calls = deprecated_calls.calls + excluded.calls`;

/** Calls of one deprecated operation by one client. */
export interface DeprecatedUse {
  readonly clientId: string;
  /** Method and route template. */
  readonly operation: string;
  readonly calls: number;
  /** The last UTC day with calls, as ISO 8601 date. */
  readonly lastDay: string;
}

/**
 * Counts which clients still call deprecated operations, per client and day, in the database. It is written in the background, so
 * that no request waits for it. As a metric it would need one time series per client, which is unbounded.
 */
@Injectable()
export class DeprecatedCallsService extends WriteBehind {
  private unwritten = new Map<string, DeprecatedCalls>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly cacheNeutralWrites: CacheNeutralWrites,
    private readonly clock: Clock,
    sweeper: Sweeper,
  ) {
    super(new Logger('Deprecation'), {
      failing: 'Calls of deprecated operations cannot be written; they are kept in memory',
    });
    sweeper.add({
      entity: DeprecatedCalls,
      where: 'day < :oldest',
      parameters: (now, { usageRetentionDays }) => ({ oldest: dayOf(now) - usageRetentionDays * DAY_MS }),
    });
  }

  /** Counts a call; costs a look-up in memory. `operation` is method and route template. */
  note(clientId: string, operation: string): void {
    this.add({ clientId, operation, day: BigInt(dayOf(this.clock.now())), calls: 1 });
  }

  /** What clients have called in the last days including today, without calls of about the last second. */
  async of(clientIds: readonly string[], days: number): Promise<DeprecatedUse[]> {
    const since = dayOf(this.clock.now()) - (days - 1) * DAY_MS;
    const rows = await this.dataSource.manager.find(DeprecatedCalls, {
      where: { clientId: In(clientIds), day: MoreThanOrEqual(BigInt(since)) },
      order: { clientId: 'ASC', operation: 'ASC', day: 'ASC' },
    });
    const uses = new Map<string, DeprecatedUse>();
    for (const { clientId, operation, day, calls } of rows) {
      const before = uses.get(`${clientId} ${operation}`)?.calls ?? 0;
      const lastDay = new Date(Number(day)).toISOString().slice(0, 10);
      uses.set(`${clientId} ${operation}`, { clientId, operation, calls: before + calls, lastDay });
    }
    return [...uses.values()];
  }

  private add(counted: DeprecatedCalls): void {
    const key = `${counted.day} ${counted.clientId} ${counted.operation}`;
    const known = this.unwritten.get(key);
    if (known) known.calls += counted.calls;
    else this.unwritten.set(key, counted);
  }

  protected override async write(): Promise<void> {
    if (this.unwritten.size === 0) return;
    const rows = [...this.unwritten.values()];
    this.unwritten = new Map();
    try {
      const texts = rows.map((row) => ({ ...row, day: String(row.day) }));
      await this.cacheNeutralWrites.run((manager) => runForRows(manager, texts, ADD_UP));
    } catch (error) {
      for (const row of rows) this.add(row);
      throw error;
    }
  }
}

function dayOf(instant: number): number {
  return Math.floor(instant / DAY_MS) * DAY_MS;
}
