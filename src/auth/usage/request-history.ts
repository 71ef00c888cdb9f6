import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { Clock, isoOf } from '../../core/time/clock.js';
import { BY_INT64_ID, type Page, type PageRequest, keysetPage } from '../../database/keyset-page.js';
import { ClientsService } from '../clients/clients.service.js';
import { startOf } from '../../throttling/quota.js';
import { Sweeper } from '../../database/sweeper.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time/duration.js';
import { ApiKey } from '../clients/api-key.entity.js';
import { Client } from '../clients/client.entity.js';
import {
  ALL_CLIENTS,
  DEPRECATED,
  RefusedRequest,
  RequestCount,
  WITHOUT_KEY,
} from './client-requests.entity.js';
import { BUCKETS, quantile } from './latency.js';

/** The columns that counts can be grouped by. */
type Columns = Omit<RequestCount, 'lengthMs' | 'requests'>;

/** The sum of counts with the same values in some columns. */
export type Sum<By extends keyof Columns> = Pick<Columns, By> & { readonly requests: number };

/** Filters a list of errors. */
export interface ErrorFilter {
  readonly clientId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly code?: string | undefined;
  /** Method and route template. */
  readonly operation?: string | undefined;
  readonly outcome?: ErrorOutcome | undefined;
}

/**
 * Conditions for errors by outcome, classified like the traffic of all clients. At most MAX_REFUSED rows are stored, so they need no index.
 */
const OF_OUTCOME = {
  '429': 'refused.status = 429',
  '4xx': 'refused.status BETWEEN 400 AND 498 AND refused.status <> 429',
  '5xx': 'refused.status >= 500',
} as const;
export type ErrorOutcome = keyof typeof OF_OUTCOME;
export const ERROR_OUTCOMES = Object.keys(OF_OUTCOME) as ErrorOutcome[];

/** One of the last errors, with the name of its client and the prefix of its key, which are null if these were deleted. */
export type NamedError = RefusedRequest & {
  readonly clientName: string | null;
  readonly keyPrefix: string | null;
};

/** Selects counts of minutes or days that start at this time or later. */
export interface Counted {
  readonly lengthMs: number;
  readonly since: number;
  readonly only?: 'refused' | 'deprecated';
}

/** Errors of deleted clients, written when a deletion was interrupted or by an earlier version. */
const OF_DELETED = 'key_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM clients WHERE clients.id = client_id)';

/** How many operations are listed for a client. */
const MAX_OPERATIONS = 200;

/** Selects the last 60 minutes, including the current one. `now` is in ms since the Unix epoch. */
export function lastHourOf(now: number): Counted {
  return { lengthMs: MINUTE_MS, since: startOf(now, MINUTE_MS) - HOUR_MS + MINUTE_MS };
}

/** Whether an outcome is a refusal by a quota or ban. */
export function isRefused(outcome: string): boolean {
  return outcome.startsWith('429');
}

/** Reads the counts of ClientRequests, which are up to a second late, and deletes old ones. */
@Injectable()
export class RequestHistory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    clients: ClientsService,
    sweeper: Sweeper,
  ) {
    clients.registerLog((clientId) => ({
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

  /** The numbers of requests of clients, grouped by columns. */
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
    // PostgreSQL returns sums and timestamps as text.
    return rows.map(({ start, ...row }) => {
      const counted = { ...row, requests: Number(row.requests) };
      return (start === undefined ? counted : { ...counted, start: Number(start) }) as Sum<By>;
    });
  }

  /** The requests of all clients in the last hour and today, and today's calls to deprecated operations, largest first. */
  async together() {
    const now = this.clock.now();
    const today = { lengthMs: DAY_MS, since: startOf(now, DAY_MS) };
    const traffic = [];
    for (const counted of [lastHourOf(now), today]) {
      const sums = await this.sums([ALL_CLIENTS], counted, ['outcome']);
      const sumOf = (outcomes: RegExp) =>
        sums.reduce((sum, { outcome, requests }) => sum + (outcomes.test(outcome) ? requests : 0), 0);
      traffic.push({
        since: isoOf(counted.since),
        requests: sumOf(/^\d/),
        clientErrors: sumOf(/^4(?!29|99)/),
        serverErrors: sumOf(/^5/),
        refused: sumOf(/^429/),
        withoutKey: sumOf(new RegExp(`^${WITHOUT_KEY}$`)),
      });
    }
    const calls = await this.sums([ALL_CLIENTS], { ...today, only: 'deprecated' }, ['operation']);
    const deprecated = calls.map(({ operation, requests }) => ({ operation, calls: requests }));
    return { traffic, deprecated: deprecated.toSorted((a, b) => b.calls - a.calls) };
  }

  /** The outcomes of one client's requests by key and operation, for the operations with the most requests in the days. */
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
      .limit(MAX_OPERATIONS);
    for (const bucket of BUCKETS)
      query.addSelect(sumOf(`${inDays} AND counted.bucket = ${bucket}`), `in${bucket}`);
    const rows = await query.getRawMany<Readonly<Record<string, unknown>>>();
    const keys = await this.prefixesOf(rows.map((row) => String(row['keyId'])));
    return rows.map((row) => {
      const counts = BUCKETS.map((bucket) => [bucket, Number(row[`in${bucket}`])] as const);
      const buckets = new Map(counts.filter(([, requests]) => requests > 0));
      return {
        keyId: row['keyId'] === '' ? null : String(row['keyId']),
        keyPrefix: keys.get(String(row['keyId'])) ?? null,
        operation: String(row['operation']),
        outcome: String(row['outcome']),
        requests: Number(row['requests']),
        lastHour: Number(row['lastHour']),
        ...latenciesOf(buckets),
      };
    });
  }

  /** A page of the matching last errors, most recently stored first, because clocks may be set back or differ. */
  async errors(page: PageRequest, filter: ErrorFilter): Promise<Page<NamedError>> {
    const { manager } = this.dataSource;
    const query = manager.createQueryBuilder(RefusedRequest, 'refused');
    for (const property of ['clientId', 'requestId', 'code', 'operation'] as const)
      if (filter[property] !== undefined)
        query.andWhere(`refused.${property} = :${property}`, { [property]: filter[property] });
    if (filter.outcome !== undefined) query.andWhere(OF_OUTCOME[filter.outcome]);
    const { items, ...more } = await keysetPage(query, page, BY_INT64_ID, 'DESC');
    const clients = await manager.find(Client, {
      where: { id: In([...new Set(items.map(({ clientId }) => clientId))]) },
      select: { id: true, name: true },
    });
    const keys = await this.prefixesOf(items.map(({ keyId }) => keyId ?? ''));
    const named = items.map((error) =>
      Object.assign(error, {
        clientName: clients.find(({ id }) => id === error.clientId)?.name ?? null,
        keyPrefix: keys.get(error.keyId ?? '') ?? null,
      }),
    );
    return { items: named, ...more };
  }

  private async prefixesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const where = { id: In([...new Set(ids)]) };
    const keys = await this.dataSource.manager.find(ApiKey, { where, select: { id: true, prefix: true } });
    return new Map(keys.map(({ id, prefix }) => [id, prefix]));
  }
}

/** Sums counts by outcome, largest first, with the latencies of `inDays`. */
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
