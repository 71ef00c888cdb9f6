import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { Clock, isoOf } from '../../core/time/clock.js';
import type { Page, PageRequest } from '../../database/keyset-page.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time/duration.js';
import { startOf } from '../../throttling/quota.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { ApiKey } from '../clients/api-key.entity.js';
import { ClientQuotas } from '../clients/client-quotas.js';
import type { Client } from '../clients/client.entity.js';
import { UNCOUNTED } from './client-requests.entity.js';
import { type ClientFilter, EXPIRING_MS } from '../clients/client-list.js';
import { ClientsService } from '../clients/clients.service.js';
import {
  type Counted,
  RequestHistory,
  type Sum,
  isRefused,
  lastHourOf,
  outcomesOf,
} from './request-history.js';

/** Default number of days. */
export const DAYS_SHOWN = 7;
/** Maximum number of days in a request; USAGE_RETENTION_DAYS decides how many are stored. */
export const DAYS_STORED = 90;

/** Usage of a client, as described by ClientUsageDto. */
export type Usage = Awaited<ReturnType<UsageService['ofAll']>>[number];
/** Usage with minutes and operations, as described by ClientDetailsDto. */
export type DetailedUsage = Awaited<ReturnType<UsageService['of']>>;

/** Reads the usage of clients. */
@Injectable()
export class UsageService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clients: ClientsService,
    private readonly quota: QuotaService,
    private readonly quotas: ClientQuotas,
    private readonly history: RequestHistory,
    private readonly clock: Clock,
  ) {}

  /** The usage of one client: its current windows and bans, and its last days. */
  async of(client: Client, days = DAYS_SHOWN) {
    const [usage] = await this.ofAll([client], days);
    const now = this.clock.now();
    const ids = [client.id];
    const hour = lastHourOf(now);
    const byMinute = await this.history.sums(ids, hour, ['outcome', 'start']);
    return {
      ...(usage as Usage),
      minutes: Array.from({ length: HOUR_MS / MINUTE_MS }, (_, ago) => {
        const start = startOf(now, MINUTE_MS) - ago * MINUTE_MS;
        const counted = byMinute.filter((one) => one.start === start && !one.outcome.endsWith(UNCOUNTED));
        const refused = sumOf(counted.filter(({ outcome }) => isRefused(outcome)));
        return { minute: isoOf(start), requests: sumOf(counted) - refused, refused };
      }),
      operations: await this.history.operationsOf(client.id, lastDaysOf(now, days), hour),
    };
  }

  /** A page of the matching clients, with their usage. */
  async list(
    page: PageRequest,
    days = DAYS_SHOWN,
    filter: ClientFilter = {},
  ): Promise<Page<{ client: Client; usage: Usage }>> {
    const { items, ...more } = await this.clients.list(page, filter);
    const usages = await this.ofAll(items, days);
    return { items: usages.map((usage, index) => ({ client: items[index] as Client, usage })), ...more };
  }

  /**
   * The usage of clients, in their order. A process other than the one that counts (the command line) reads windows and bans from the
   * database, up to a second late; with Redis there is no delay.
   */
  private async ofAll(clients: readonly Client[], days: number) {
    const now = this.clock.now();
    const today = startOf(now, DAY_MS);
    const inDays = lastDaysOf(now, days);
    const ids = clients.map(({ id }) => id);
    const subjectIds = clients.map((client) => this.quotas.subjectOf(client).id);
    const counts = await this.quota.days([...new Set(subjectIds)], inDays.since);
    const [counted, lastHour, refused, deprecated] = [
      await this.history.sums(ids, inDays, ['clientId', 'outcome', 'bucket']),
      await this.history.sums(ids, lastHourOf(now), ['clientId', 'outcome']),
      await this.history.sums(ids, { ...inDays, only: 'refused' }, ['clientId', 'start']),
      await this.history.sums(ids, { ...inDays, only: 'deprecated' }, ['clientId', 'operation', 'start']),
    ];
    const requests = new Map(counts.map(({ key, start, used }) => [`${key} ${start}`, used]));
    const keys = await this.keys.find({
      where: { clientId: In(ids) },
      select: {
        id: true,
        clientId: true,
        prefix: true,
        lastUsedAt: true,
        expiresAt: true,
        revokedAt: true,
        replacedBy: true,
      },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return Promise.all(
      clients.map(async (client, index) => {
        const isOwn = ({ clientId }: { readonly clientId: string }): boolean => clientId === client.id;
        const own = keys.filter(isOwn);
        const refusedByDay = new Map(refused.filter(isOwn).map((one) => [one.start, one.requests]));
        const { windows, bans } = await this.quotaOf(client, own);
        const live = windows.find(({ lengthMs }) => lengthMs === DAY_MS)?.used ?? 0;
        return {
          limits: this.quotas.limitsOf(client),
          windows,
          bans,
          outcomes: outcomesOf(counted.filter(isOwn), lastHour.filter(isOwn)),
          deprecatedCalls: deprecatedCallsIn(deprecated.filter(isOwn)),
          lastUsedAt: latest(own.map(({ lastUsedAt }) => lastUsedAt)),
          keyExpiresAt: soonest(own, now),
          days: Array.from({ length: days }, (_, ago) => {
            const start = today - ago * DAY_MS;
            const written = requests.get(`${subjectIds[index]} ${start}`) ?? 0;
            return {
              date: isoOf(start).slice(0, 10),
              requests: ago === 0 ? Math.max(live, written) : written,
              refused: refusedByDay.get(start) ?? 0,
            };
          }),
        };
      }),
    );
  }

  /** When the ban of a key ends; null if it is not banned. */
  async bannedUntil(key: ApiKey): Promise<string | null> {
    const subject = this.quotas.subjectOf(await this.clients.get(key.clientId));
    const { bannedUntil } = await this.quota.peek({ ...subject, keyId: key.id });
    return bannedUntil === undefined ? null : isoOf(bannedUntil);
  }

  private async quotaOf(client: Client, keys: readonly ApiKey[]) {
    const subject = this.quotas.subjectOf(client);
    const { windows } = await this.quota.peek(subject);
    const now = isoOf(this.clock.now());
    // A revoked or expired key is refused for that reason; its ban no longer matters.
    const working = keys.filter(
      ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
    );
    const bans = await Promise.all(
      working.map(async ({ id: keyId, prefix: keyPrefix }) => {
        const { bannedUntil } = await this.quota.peek({ ...subject, keyId });
        return bannedUntil === undefined ? [] : [{ keyId, keyPrefix, bannedUntil: isoOf(bannedUntil) }];
      }),
    );
    return { windows, bans: bans.flat() };
  }
}

/** Calls by operation; the days may be in any order. */
function deprecatedCallsIn(sums: readonly Sum<'operation' | 'start'>[]) {
  const operations = [...new Set(sums.map(({ operation }) => operation))].toSorted();
  return operations.map((operation) => {
    const own = sums.filter((sum) => sum.operation === operation);
    const last = Math.max(...own.map(({ start }) => start));
    return { operation, calls: sumOf(own), lastDay: isoOf(last).slice(0, 10) };
  });
}

function lastDaysOf(now: number, days: number): Counted {
  return { lengthMs: DAY_MS, since: startOf(now, DAY_MS) - (days - 1) * DAY_MS };
}

function sumOf(counted: readonly { readonly requests: number }[]): number {
  return counted.reduce((sum, { requests }) => sum + requests, 0);
}

/** When the first of the keys expires, if within EXPIRING_MS and not rotated; `now` is in ms since the Unix epoch. */
function soonest(keys: readonly ApiKey[], now: number): string | null {
  const [from, until] = [isoOf(now), isoOf(now + EXPIRING_MS)];
  const instants = keys.flatMap(({ expiresAt, revokedAt, replacedBy }) =>
    expiresAt !== null && expiresAt > from && expiresAt <= until && revokedAt === null && replacedBy === null
      ? [expiresAt]
      : [],
  );
  return instants.toSorted()[0] ?? null;
}

function latest(instants: readonly (string | null)[]): string | null {
  return instants.reduce((a, b) => ((a ?? '') > (b ?? '') ? a : b), null);
}
