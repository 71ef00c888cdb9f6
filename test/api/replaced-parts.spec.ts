import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Global,
  ImATeapotException,
  Module,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { ApiKeyGuard } from '../../src/auth/api-key.guard.js';
import type { Caller } from '../../src/auth/caller.js';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { ScopesGuard } from '../../src/auth/scopes.guard.js';
import { Clock, SystemClock } from '../../src/core/time/clock.js';
import { uniqueViolation } from '../../src/database/constraint-violations.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { ApiErrors } from '../../src/core/errors/api-errors.decorator.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { BodyGuard } from '../../src/http/chain/body.guard.js';
import { DeprecationHeadersGuard, SunsetGuard } from '../../src/http/deprecation/deprecation.guards.js';
import { ErrorFilter } from '../../src/http/replies/error.filter.js';
import { RequestHeadGuard } from '../../src/http/chain/request-head.guard.js';
import { ValidationPipe } from '../../src/http/validation/validation.pipe.js';
import { QuotaGuard } from '../../src/throttling/quota.guard.js';
import { QuotaPolicy } from '../../src/throttling/quota-policy.js';
import { API_KEY_BANNED } from '../../src/throttling/throttling.events.js';
import { issueKey } from '../kit/issued-key.js';
import { application } from '../support/application.js';
import { ContractsModule } from '../support/contracts/contracts.module.js';
import { TestService } from '../kit/test-service.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import { openForAll, openForTest } from '../support/opened.js';

const list = (service: TestService, key = service.key) => service.request('GET', '/v1/pets?limit=1', { key });
const policyOf = ({ headers }: { headers: Headers }) => headers.get('ratelimit-policy');

describe('a QuotaPolicy of a module, as the guide shows it', async () => {
  const service = await openForAll({ modules: [ContractsModule], plan: 'free' });
  const { key: admin } = await service.issueKey({ plan: 'pro', scopes: ['admin'] });
  const shown = (path: string) => service.request('GET', `/admin/${path}`, { key: admin });

  /** A client with a key: those of one organization count together. */
  const shop = (name: string) => issueKey(service.app, { name, plan: 'free' });

  it('is queried for the limits of each request and by administration, and no other plan changes', async () => {
    expect(policyOf(await list(service))).toBe('"minute";q=30;w=60, "day";q=500;w=86400');
    const limits = vi.spyOn(service.app.get(QuotaPolicy), 'limitsOf');
    limits.mockReturnValue({ perMinute: 3, perDay: 50 });
    const statuses = [];
    for (let sent = 0; sent < 3; sent += 1) statuses.push((await list(service)).status);
    // What is used stays used.
    expect(statuses).toEqual([200, 200, 429]);
    limits.mockRestore();
    const client = await shown(`clients/${service.clientId}`);
    const windows = [{ limit: 30, used: 3 }, { limit: 500 }];
    expect(client.body).toMatchObject({ perMinute: 30, perDay: 500, windows });
    expect(policyOf(client)).toBe('"minute";q=300;w=60, "day";q=10000;w=86400');
  });

  it('counts clients of one organization together, others apart', async () => {
    const [till, web, bolt] = [await shop('Acme/till'), await shop('Acme/web'), await shop('Bolt/web')];
    for (const { key } of [till, web]) expect((await hammer(service, 15, key)).status).toBe(200);
    expect((await list(service, till.key)).status).toBe(429);
    expect((await list(service, bolt.key)).headers.get('x-ratelimit-remaining')).toBe('29');
    for (const { clientId } of [till, web])
      expect((await shown(`clients/${clientId}`)).body.windows).toMatchObject([{ limit: 30, used: 30 }, {}]);
  });

  it('may refuse a caller, whose address is refused once its attempts are used up', async () => {
    const { key } = await shop('Closed');
    expect((await list(service, key)).status).toBe(200);
    const subject = vi.spyOn(service.app.get(QuotaPolicy), 'subjectOf');
    subject.mockImplementation(() => {
      throw new ForbiddenException('The contract has ended.');
    });
    const statuses = [];
    for (let sent = 0; sent < 61; sent += 1) {
      const response = await fetch(`${service.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
      statuses.push(response.status);
    }
    expect([new Set(statuses.slice(0, 60)), statuses[60]]).toEqual([new Set([403]), 429]);
    subject.mockRestore();
    service.clock.advance(60_000);
  });

  it('leaves bans only on the key, and its client gets an event', async () => {
    const [till, web] = [await shop('Zoo/till'), await shop('Zoo/web')];
    const banned = service.collect(API_KEY_BANNED);
    expect((await earnBan(service, till.key)).body.code).toBe('api_key_banned');
    expect((await list(service, web.key)).body.code).toBe('rate_limit_exceeded');
    await expect.poll(() => banned).toMatchObject([{ clientId: till.clientId, keyId: till.id }]);
    const bannedUntil = async () => (await shown(`keys/${till.id}`)).body.bannedUntil;
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
    const { clientId } = await issueKey(app);
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

/* eslint-enable promise/valid-params */

@ApiErrors(...Object.values(SHOP_ERRORS))
@Controller({ path: 'stock', version: '1' })
class StockController {
  constructor(private readonly dataSource: DataSource) {}

  @Get('plain')
  plain(): never {
    throw new OutOfStock('Ball');
  }

  @Get('taken')
  async conflict(): Promise<never> {
    await this.dataSource.query('CREATE TABLE IF NOT EXISTS toy_names (name TEXT UNIQUE)');
    const add = () => this.dataSource.query(`INSERT INTO toy_names VALUES ('Ball')`);
    await add();
    const error = await add().catch((thrown: unknown) => thrown);
    throw new OutOfStock(String(uniqueViolation(error)));
  }

  @Get('other')
  other(): never {
    throw new Error('secret');
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
    ['a class', 'plain', 409, 'out_of_stock', 'Ball is sold out.'],
    ['what a handler throws for a taken value', 'taken', 409, 'out_of_stock', 'toy_names.name is sold out.'],
    ['nothing else', 'other', 500, 'internal_error', expect.stringMatching(/X-Request-Id/)],
  ])('responds with the Error body: %s', async (_, path, status, code, message) => {
    const response = await stock.request('GET', `/v1/stock/${path}`);
    expect(response.body).toEqual({ code, message, status });
    expect(response.status).toBe(status);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('link')).toBe(`</docs/errors#${code}>; rel="help"`);
    expect(response.text).not.toContain('secret');
  });
});

/** Takes the place of a guard, a pipe or a filter: refuses whatever it gets. */
class Teapot {
  canActivate(): never {
    throw new ImATeapotException();
  }

  transform(): never {
    throw new ImATeapotException();
  }

  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).json({});
  }
}

describe('Nest’s testing module overrides by its class', () => {
  const CHAIN: readonly Type[] = [
    DeprecationHeadersGuard,
    ApiKeyGuard,
    QuotaGuard,
    ScopesGuard,
    RequestHeadGuard,
    SunsetGuard,
    BodyGuard,
    ValidationPipe,
    ErrorFilter,
  ];

  it.each(CHAIN.map((part) => [part.name, part] as const))('%s', async (_, part) => {
    const service = await openForTest({
      override: (testing) => testing.overrideProvider(part).useClass(Teapot),
    });
    const headers = { authorization: `Bearer ${service.key}` };
    const { status } = await fetch(`${service.url}/v1/pets${part === ErrorFilter ? '/7' : ''}`, { headers });
    expect(status).toBe(418);
  });

  it('the guard of API keys, as a test does that is about something else', async () => {
    const caller: Caller = { clientId: 'c', keyId: 'k', user: null, scopes: ['pets:read'] };
    const canActivate = (context: ExecutionContext): boolean => {
      context.switchToHttp().getRequest<Request>().caller = caller;
      return true;
    };
    const service = await openForTest({
      override: (testing) => testing.overrideProvider(ApiKeyGuard).useValue({ canActivate }),
    });
    expect((await service.request('GET', '/v1/pets', { key: null })).status).toBe(200);
  });
});
