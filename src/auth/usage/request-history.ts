import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock, isoOf } from '../../core/time/clock.js';
import { BY_INT64_ID, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { ClientsService } from '../clients/clients.service.js';
import { Sweeper } from '../../database/sweeper.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time/duration.js';
import { DEPRECATED, RefusedRequest, RequestCount } from './client-requests.entity.js';
import { BUCKETS, quantile } from './latency.js';

/** The columns that counts are added up by. */
type Columns = Omit<RequestCount, 'lengthMs' | 'requests'>;

/** Counts of requests with the same values in some columns. */
export type Sum<By extends keyof Columns> = Pick<Columns, By> & { readonly requests: number };

/** Which errors a list has. */
export interface ErrorFilter {
  readonly clientId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Which counts are added up: those of minutes or days that begin at this instant or later, until now. */
export interface Counted {
  readonly lengthMs: number;
  readonly since: number;
  readonly only?: 'refused' | 'deprecated';
}

/** Errors of keys whose client was deleted while the process that deletes them ended, or by an earlier version. */
const OF_DELETED = 'key_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM clients WHERE clients.id = client_id)';

/** How many rows of operations are shown of a client. */
const MOST_OPERATIONS = 200;

/** Whether an outcome is that of a request that was refused by a quota or a ban. */
export function isRefused(outcome: string): boolean {
  return outcome.startsWith('429');
}

/** Reads the counts of ClientRequests, with a delay of up to a second, and deletes old ones. */
@Injectable()
export class RequestHistory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    clients: ClientsService,
    sweeper: Sweeper,
  ) {
    clients.addLog((clientId) => ({
      entity: RefusedRequest,
      where: 'client_id = :clientId',
      parameters: () => ({ clientId }),
    }));
    const dayAgo = (now: number, days: number) => (Math.floor(now / DAY_MS) - days) * DAY_MS;
    sweeper.add(
      {
        entity: RequestCount,
        where: `length_ms = ${MINUTE_MS} AND window_start < :hoursAgo OR length_ms = ${DAY_MS} AND window_start < :oldest`,
        parameters: (now, { usageRetentionDays }) => ({
          hoursAgo: now - 2 * HOUR_MS,
          oldest: dayAgo(now, usageRetentionDays),
        }),
      },
      {
        entity: RefusedRequest,
        where: `at < :oldest OR ${OF_DELETED}`,
        parameters: (now, { usageRetentionDays }) => ({
          oldest: isoOf(dayAgo(now, usageRetentionDays)),
        }),
      },
    );
  }

  /** The requests of clients, added up by columns. */
  async sums<By extends keyof Columns>(
    clientIds: readonly string[],
    { lengthMs, since, only }: Counted,
    by: readonly By[],
  ): Promise<Sum<By>[]> {
    if (clientIds.length === 0) return [];
    const query = this.dataSource.manager
      .createQueryBuilder(RequestCount, 'counted')
      .select('SUM(counted.requests)', 'requests')
      .where('counted.clientId IN (:...clientIds)', { clientIds })
      .andWhere('counted.lengthMs = :lengthMs', { lengthMs })
      .andWhere('counted.start BETWEEN :since AND :now', { since, now: this.clock.now() })
      .andWhere(`counted.outcome ${only === 'deprecated' ? '=' : '<>'} '${DEPRECATED}'`);
    if (only === 'refused') query.andWhere(`counted.outcome LIKE '429%'`);
    for (const column of by) query.addSelect(`counted.${column}`, column).addGroupBy(`counted.${column}`);
    const rows = await query.getRawMany<Pick<Columns, By> & { requests: unknown; start?: unknown }>();
    // PostgreSQL has sums and instants as text.
    return rows.map(({ start, ...row }) => {
      const counted = { ...row, requests: Number(row.requests) };
      return (start === undefined ? counted : { ...counted, start: Number(start) }) as Sum<By>;
    });
  }

  /** The outcomes of the requests of one client by key and operation, those with most requests in the days. */
  async operationsOf(clientId: string, days: Counted, lastHour: Counted) {
    const sumOf = (condition: string) => `SUM(CASE WHEN ${condition} THEN counted.requests ELSE 0 END)`;
    const inDays = `counted.length_ms = ${DAY_MS}`;
    const query = this.dataSource.manager
      .createQueryBuilder(RequestCount, 'counted')
      .select('counted.keyId', 'keyId')
      .addSelect('counted.operation', 'operation')
      .addSelect('counted.outcome', 'outcome')
      .addSelect(sumOf(inDays), 'requests')
      .addSelect(sumOf(`counted.length_ms = ${MINUTE_MS}`), 'lastHour')
      .where('counted.clientId = :clientId', { clientId })
      .andWhere(
        `(${inDays} AND counted.start >= :sinceDay OR counted.length_ms = ${MINUTE_MS} AND counted.start >= :sinceMinute)`,
        { sinceDay: days.since, sinceMinute: lastHour.since },
      )
      .andWhere('counted.start <= :now', { now: this.clock.now() })
      .andWhere(`counted.outcome <> '${DEPRECATED}'`)
      .groupBy('counted.keyId')
      .addGroupBy('counted.operation')
      .addGroupBy('counted.outcome')
      .orderBy(sumOf(inDays), 'DESC')
      .addOrderBy('counted.outcome')
      .addOrderBy('counted.operation')
      .addOrderBy('counted.keyId')
      .limit(MOST_OPERATIONS);
    for (const bucket of BUCKETS)
      query.addSelect(sumOf(`${inDays} AND counted.bucket = ${bucket}`), `in${bucket}`);
    const rows = await query.getRawMany<Readonly<Record<string, unknown>>>();
    return rows.map((row) => {
      const counts = BUCKETS.map((bucket) => [bucket, Number(row[`in${bucket}`])] as const);
      const buckets = new Map(counts.filter(([, requests]) => requests > 0));
      return {
        keyId: row['keyId'] === '' ? null : String(row['keyId']),
        operation: String(row['operation']),
        outcome: String(row['outcome']),
        requests: Number(row['requests']),
        lastHour: Number(row['lastHour']),
        ...latenciesOf(buckets),
      };
    });
  }

  /** A page of the last errors of one client, of those with one `X-Request-Id`, or of all, latest first. */
  errors(page: PageRequest, { clientId, requestId }: ErrorFilter): Promise<Page<RefusedRequest>> {
    const query = this.dataSource.manager.createQueryBuilder(RefusedRequest, 'refused');
    if (clientId !== undefined) query.andWhere('refused.clientId = :clientId', { clientId });
    if (requestId !== undefined) query.andWhere('refused.requestId = :requestId', { requestId });
    return keysetPage(query, page, BY_INT64_ID, 'DESC');
  }
}

/** Adds up counts to one entry for each outcome, most requests first. Latencies are those of `inDays`. */
export function outcomesOf(
  inDays: readonly Sum<'outcome' | 'bucket'>[],
  lastHour: readonly Sum<'outcome'>[],
) {
  const uses = new Map<string, { lastHour: number; buckets: Map<number, number> }>();
  const useOf = (outcome: string) => {
    const use = uses.get(outcome) ?? { lastHour: 0, buckets: new Map<number, number>() };
    uses.set(outcome, use);
    return use;
  };
  for (const { outcome, bucket, requests } of inDays) {
    const { buckets } = useOf(outcome);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + requests);
  }
  for (const { outcome, requests } of lastHour) useOf(outcome).lastHour += requests;
  return [...uses]
    .map(([outcome, { lastHour: ofHour, buckets }]) => {
      const requests = [...buckets.values()].reduce((sum, count) => sum + count, 0);
      return { outcome, requests, lastHour: ofHour, ...latenciesOf(buckets) };
    })
    .toSorted((a, b) => b.requests - a.requests || (a.outcome < b.outcome ? -1 : 1));
}

function latenciesOf(buckets: ReadonlyMap<number, number>) {
  return { p50Ms: quantile(0.5, buckets), p99Ms: quantile(0.99, buckets) };
}
