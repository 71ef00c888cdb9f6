import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import type { Page, PageRequest } from '../../database/keyset-page.js';
import type { PlanLimits } from '../../core/config/plan-table.js';
import { DAY_MS, type WindowState } from '../../throttling/quota.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { ApiKey } from './api-key.entity.js';
import { ClientQuotas } from './client-quotas.js';
import type { Client } from './client.entity.js';
import { ClientsService } from './clients.service.js';
import { DeprecatedCallsService, type DeprecatedUse } from './deprecated-calls.service.js';

/** How many days are shown by default. */
export const DAYS_SHOWN = 7;
/** How many days are kept. */
export const DAYS_KEPT = 90;

/** What a client has used. Instants are ISO 8601 text in UTC. */
export interface Usage {
  /** What it may send now. */
  readonly limits: PlanLimits;
  readonly windows: readonly WindowState[];
  readonly bans: readonly { readonly keyId: string; readonly bannedUntil: string }[];
  /** When one of its keys was last used, to the minute; null before the first use. */
  readonly lastUsedAt: string | null;
  /** Requests admitted in each UTC day, today first. */
  readonly days: readonly { readonly date: string; readonly requests: number }[];
  /** Its calls of deprecated operations in those days. */
  readonly deprecatedCalls: readonly Omit<DeprecatedUse, 'clientId'>[];
}

/** Shows what clients have used. */
@Injectable()
export class UsageService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clients: ClientsService,
    private readonly quota: QuotaService,
    private readonly quotas: ClientQuotas,
    private readonly deprecated: DeprecatedCallsService,
    private readonly clock: Clock,
  ) {}

  /** The usage of one client: windows and bans now, and its last days. */
  async of(client: Client, days = DAYS_SHOWN): Promise<Usage> {
    const [usage] = await this.ofAll([client], days);
    return usage as Usage;
  }

  /** A page of the clients with their usage, oldest first; with `name` only those whose name holds this text. */
  async list(
    page: PageRequest,
    days = DAYS_SHOWN,
    filter: { readonly name?: string } = {},
  ): Promise<Page<{ client: Client; usage: Usage }>> {
    const { items, ...more } = await this.clients.list(page, filter);
    const usages = await this.ofAll(items, days);
    return { items: usages.map((usage, index) => ({ client: items[index] as Client, usage })), ...more };
  }

  /**
   * The usage of clients, in their order. A process other than the one that counts (the command line) reads windows and bans
   * from the database, up to a second late; with Redis there is no delay.
   */
  private async ofAll(clients: readonly Client[], days: number): Promise<Usage[]> {
    const today = Math.floor(this.clock.now() / DAY_MS) * DAY_MS;
    const since = today - (days - 1) * DAY_MS;
    const ids = clients.map(({ id }) => id);
    const subjectIds = clients.map((client) => this.quotas.subjectOf(client).id);
    const counts = await this.quota.days([...new Set(subjectIds)], since);
    const deprecated = await this.deprecated.of(ids, days);
    const requests = new Map(counts.map(({ key, start, used }) => [`${key} ${start}`, used]));
    const keys = await this.keys.find({
      where: { clientId: In(ids) },
      select: { id: true, clientId: true, lastUsedAt: true, expiresAt: true, revokedAt: true },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    return Promise.all(
      clients.map(async (client, index) => {
        const own = keys.filter(({ clientId }) => clientId === client.id);
        const { windows, bans } = await this.quotaOf(client, own);
        const live = windows.find(({ lengthMs }) => lengthMs === DAY_MS)?.used ?? 0;
        return {
          limits: this.quotas.limitsOf(client),
          windows,
          bans,
          deprecatedCalls: deprecated
            .filter(({ clientId }) => clientId === client.id)
            .map(({ operation, calls, lastDay }) => ({ operation, calls, lastDay })),
          lastUsedAt: latest(own.map(({ lastUsedAt }) => lastUsedAt)),
          days: Array.from({ length: days }, (_, ago) => {
            const start = today - ago * DAY_MS;
            const written = requests.get(`${subjectIds[index]} ${start}`) ?? 0;
            return {
              date: isoOf(start).slice(0, 10),
              requests: ago === 0 ? Math.max(live, written) : written,
            };
          }),
        };
      }),
    );
  }

  /** When the ban of a key ends; null when it is not banned. */
  async bannedUntil(key: ApiKey): Promise<string | null> {
    const subject = this.quotas.subjectOf(await this.clients.get(key.clientId));
    const { bannedUntil } = await this.quota.look({ ...subject, keyId: key.id });
    return bannedUntil === undefined ? null : isoOf(bannedUntil);
  }

  private async quotaOf(client: Client, keys: readonly ApiKey[]): Promise<Pick<Usage, 'windows' | 'bans'>> {
    const subject = this.quotas.subjectOf(client);
    const { windows } = await this.quota.look(subject);
    const now = isoOf(this.clock.now());
    // A key that has ended is refused for that; whether it was banned means nothing any more.
    const working = keys.filter(
      ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
    );
    const bans = await Promise.all(
      working.map(async ({ id: keyId }) => {
        const { bannedUntil } = await this.quota.look({ ...subject, keyId });
        return bannedUntil === undefined ? [] : [{ keyId, bannedUntil: isoOf(bannedUntil) }];
      }),
    );
    return { windows, bans: bans.flat() };
  }
}

function latest(instants: readonly (string | null)[]): string | null {
  return instants.reduce((a, b) => ((a ?? '') > (b ?? '') ? a : b), null);
}

function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}
