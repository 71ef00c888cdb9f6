import {
  type ArgumentsHost,
  Catch,
  ConflictException,
  Controller,
  Get,
  Global,
  Injectable,
  Module,
  type OnModuleInit,
  Post,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { uniqueViolation } from '../../src/database/constraint-violations.js';
import { Clock, SystemClock } from '../../src/core/time/clock.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { ApiErrors } from '../../src/core/errors/api-errors.decorator.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { OnDomainEvent } from '../../src/events/domain-events.js';
import type { PlanLimits } from '../../src/core/config/plan-table.js';
import type { Plan } from '../../src/throttling/plans.js';
import { type QuotaAccount, QuotaPolicy } from '../../src/throttling/quota-policy.js';
import type { QuotaSubject } from '../../src/throttling/quota.js';
import { API_KEY_BANNED, type ApiKeyBanned } from '../../src/throttling/throttling.events.js';
import { application } from '../support/application.js';
import { ContractsModule } from '../support/contracts/contracts.module.js';
import { TestService } from '../kit/test-service.js';
import { openForAll, openForTest } from '../support/opened.js';

const open = openForTest;
const list = (service: TestService, key = service.key) => service.request('GET', '/v1/pets?limit=1', { key });
const policyOf = ({ headers }: { headers: Headers }) => headers.get('ratelimit-policy');

describe('the plan source: a QuotaPolicy with limits from elsewhere', () => {
  /** Limits that are loaded at the start and may change while the service runs. */
  @Injectable()
  class LoadedLimits extends QuotaPolicy implements OnModuleInit {
    private loaded: PlanLimits = { perMinute: 0, perDay: 0 };

    async onModuleInit(): Promise<void> {
      await Promise.resolve();
      this.set(5);
    }

    set(perMinute: number): void {
      this.loaded = { perMinute, perDay: 50 };
    }

    override limitsOf(plan: Plan): PlanLimits {
      return plan === 'free' ? this.loaded : super.limitsOf(plan);
    }
  }

  @Global()
  @Module({ providers: [{ provide: QuotaPolicy, useClass: LoadedLimits }], exports: [QuotaPolicy] })
  class LimitsModule {}

  it('is asked for each request, by administration, and no other plan changes', async () => {
    const service = await open({ modules: [LimitsModule], plan: 'free' });
    expect(policyOf(await list(service))).toBe('"minute";q=5;w=60, "day";q=50;w=86400');
    for (let sent = 1; sent < 5; sent += 1) expect((await list(service)).status).toBe(200);
    expect((await list(service)).status).toBe(429);
    service.app.get<LoadedLimits>(QuotaPolicy).set(7);
    // What is used stays used.
    const raised = await list(service);
    expect([raised.status, raised.headers.get('ratelimit')?.split(',')[0]]).toEqual([
      200,
      '"minute";r=1;t=50',
    ]);
    const { key: admin } = await service.issueKey({ plan: 'pro', scopes: ['admin'] });
    const shown = await service.request('GET', `/admin/clients/${service.clientId}`, { key: admin });
    expect(shown.body).toMatchObject({
      perMinute: 7,
      perDay: 50,
      windows: [{ limit: 7, used: 6 }, { limit: 50 }],
    });
    expect(policyOf(shown)).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
  });
});

describe('the quota subject: a QuotaPolicy that counts organizations', () => {
  const banned: ApiKeyBanned[] = [];

  @Injectable()
  class PerOrganization extends QuotaPolicy {
    override subjectOf(account: QuotaAccount, limits: PlanLimits): QuotaSubject {
      const [organization = '', rest] = account.name?.split('/') ?? [];
      if (rest === undefined) return super.subjectOf(account, limits);
      return { id: `organization:${organization}`, plan: account.plan, perMinute: 3, perDay: 1_000 };
    }

    @OnDomainEvent(API_KEY_BANNED)
    hear(event: ApiKeyBanned): void {
      banned.push(event);
    }
  }

  @Global()
  @Module({ providers: [{ provide: QuotaPolicy, useClass: PerOrganization }], exports: [QuotaPolicy] })
  class OrganizationsModule {}

  async function openShops() {
    const service = await open({ modules: [OrganizationsModule] });
    const shop = async (name: string) => {
      const { id: clientId } = await service.app
        .get(ClientsService)
        .create({ name, plan: 'pro' }, SERVICE_ITSELF);
      const { apiKey, secret } = await service.app.get(KeyIssuingService).issue({ clientId }, SERVICE_ITSELF);
      return { clientId, id: apiKey.id, key: secret };
    };
    return {
      service,
      shops: [await shop('Acme/till'), await shop('Acme/web'), await shop('Bolt/web')] as const,
    };
  }

  it('counts clients of one organization together, and others apart', async () => {
    const { service, shops } = await openShops();
    const [till, web, bolt] = shops;
    const statuses = [];
    for (const { key } of [till, web, till, web]) statuses.push((await list(service, key)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await list(service, bolt.key)).headers.get('x-ratelimit-remaining')).toBe('2');
    expect((await list(service)).headers.get('x-ratelimit-remaining')).toBe('999');
    const { key: admin } = await service.issueKey({ scopes: ['admin'] });
    for (const { clientId } of [till, web]) {
      const { body } = await service.request('GET', `/admin/clients/${clientId}`, { key: admin });
      expect(body.windows).toMatchObject([{ limit: 3, used: 3 }, { used: 3 }]);
    }
  });

  it('still bans the key alone, tells its client, and lifts the ban', async () => {
    const { service, shops } = await openShops();
    const [till, web] = shops;
    let code = '';
    for (let sent = 0; sent < 60 && code !== 'api_key_banned'; sent += 1) {
      service.clock.advance(1_000);
      for (let more = 0; more < 4; more += 1) code = (await list(service, till.key)).body.code;
    }
    expect(code).toBe('api_key_banned');
    expect((await list(service, web.key)).body.code).not.toBe('api_key_banned');
    await expect.poll(() => banned).toMatchObject([{ clientId: till.clientId, keyId: till.id }]);
    const { key: admin } = await service.issueKey({ scopes: ['admin'] });
    const bannedUntil = async () =>
      (await service.request('GET', `/admin/keys/${till.id}`, { key: admin })).body.bannedUntil;
    expect(await bannedUntil()).toEqual(expect.any(String));
    await service.app.get(ApiKeysService).unban(till.id, SERVICE_ITSELF);
    expect(await bannedUntil()).toBeNull();
    service.clock.advance(60_000);
    expect((await list(service, till.key)).status).toBe(200);
  });
});

describe('the Clock', () => {
  class StagingClock extends SystemClock {
    override now(): number {
      return Date.UTC(2031, 0, 1);
    }
  }

  @Global()
  @Module({ providers: [{ provide: SystemClock, useClass: StagingClock }], exports: [SystemClock] })
  class StagingModule {}

  it('is that of an added module, without overriding a provider', async () => {
    const { app, url } = await application({ modules: [StagingModule] });
    expect(app.get(Clock)).toBeInstanceOf(StagingClock);
    const { id: clientId } = await app
      .get(ClientsService)
      .create({ name: 'Shop', plan: 'free' }, SERVICE_ITSELF);
    expect((await app.get(ClientsService).get(clientId)).createdAt).toBe('2031-01-01T00:00:00.000Z');
    const refused = await fetch(`${url}/v1/pets`);
    expect(refused.headers.get('x-ratelimit-reset')).toBe(String(Date.UTC(2031, 0, 1, 0, 1) / 1_000));
  });
});

class OutOfStock extends Error {
  constructor(readonly sku: string) {
    super('secret of the warehouse');
  }
}

const SHOP_ERRORS = defineErrors({
  out_of_stock: { status: 409, message: '{sku} is sold out.', cause: 'Sold out.', remedy: 'Wait.' },
  shop_closed: { status: 503, message: 'The shop is closed.', cause: 'Closed.', remedy: 'Come again.' },
});

// `catch` is the method of a filter here, not that of a Promise.
/* eslint-disable promise/valid-params */

/** As docs/guides/replacing-parts.md shows it. */
@Catch(OutOfStock)
class OutOfStockFilter extends BaseExceptionFilter {
  override catch({ sku }: OutOfStock, host: ArgumentsHost): void {
    super.catch(new ApiError(SHOP_ERRORS.out_of_stock, { params: { sku } }), host);
  }
}

@Catch(ConflictException)
class ConflictFilter extends BaseExceptionFilter {
  override catch(_: ConflictException, host: ArgumentsHost): void {
    super.catch(new ApiError(SHOP_ERRORS.shop_closed), host);
  }
}

/* eslint-enable promise/valid-params */

@ApiErrors(...Object.values(SHOP_ERRORS))
@Controller({ path: 'stock', version: '1' })
class StockController {
  constructor(private readonly dataSource: DataSource) {}

  @Get('plain')
  plain(): never {
    throw new OutOfStock('Ball');
  }

  @Get('nests')
  @UseFilters(ConflictFilter)
  nests(): never {
    throw new ConflictException('x');
  }

  @Get('other')
  other(): never {
    throw new Error('secret');
  }

  @Post('names')
  async names(): Promise<object> {
    await this.dataSource.query('CREATE TABLE IF NOT EXISTS toy_names (name TEXT UNIQUE, size INT NOT NULL)');
    const add = () => this.dataSource.query(`INSERT INTO toy_names VALUES ('Ball', 1)`);
    await add();
    return add().catch((error: unknown) => {
      expect(uniqueViolation(error)).toEqual(['toy_names.name']);
      throw new OutOfStock('Ball');
    });
  }
}

@Module({
  controllers: [StockController],
  providers: [{ provide: APP_FILTER, useClass: OutOfStockFilter }],
})
class StockModule {}

describe('an exception filter of a module', async () => {
  const stock = await openForAll({ modules: [StockModule] });

  it.each([
    ['a class', 'GET', 'plain', 409, 'out_of_stock', 'Ball is sold out.'],
    ['what its handler alone has it for', 'GET', 'nests', 503, 'shop_closed', 'The shop is closed.'],
    ['what a service throws for a taken value', 'POST', 'names', 409, 'out_of_stock', 'Ball is sold out.'],
    ['nothing else', 'GET', 'other', 500, 'internal_error', expect.stringMatching(/X-Request-Id/)],
  ])('answers with the Error body: %s', async (_, method, path, status, code, message) => {
    const answer = await stock.request(method, `/v1/stock/${path}`, method === 'POST' ? { json: {} } : {});
    expect(answer.body).toEqual({ code, message, status });
    expect(answer.status).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('link')).toBe(`</docs/errors#${code}>; rel="help"`);
    expect(answer.text).not.toMatch(/secret|UNIQUE|toy_names|SQLITE|INSERT/);
  });
});

it('a policy replaces limits, as docs/guides/replacing-parts.md shows', async () => {
  const service = await open({ modules: [ContractsModule], plan: 'free' });
  expect(policyOf(await list(service))).toBe('"minute";q=30;w=60, "day";q=500;w=86400');
});
