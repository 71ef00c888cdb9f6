import { Controller, Get, Logger, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import fc from 'fast-check';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../../src/auth/clients/clients.service.js';
import { Cached } from '../../../src/http/caching/cached.decorator.js';
import { ResponseCache } from '../../../src/http/caching/response-cache.js';
import { JsonText } from '../../../src/database/json-rows.js';
import { Integer } from '../../../src/http/validation/fields.js';
import { AppLogger } from '../../../src/core/logging/app-logger.js';
import { asClient } from '../../support/as-client.js';
import { databaseOfTest } from '../../support/service-process.js';
import { type Answer, TestService } from '../../kit/test-service.js';
import { openForTest } from '../../support/opened.js';
import { described } from '../../support/described.js';

const open = openForTest;

/**
 * What a client can see of an answer, but for what differs each time: a request that is refused before its body has arrived closes its
 * connection.
 */
function seen({ status, text, headers }: Answer): object {
  const shown = Object.fromEntries(headers);
  for (const name of ['date', 'x-request-id', 'connection', 'keep-alive']) delete shown[name];
  return { status, text, headers: shown };
}

/** Without its memory the service asks the database every time. */
function withoutCaches(service: TestService): TestService {
  service.app.get(ResponseCache).answer = (_, operation) => operation();
  return service;
}

type Step =
  | {
      readonly kind: 'get';
      readonly path: string;
      readonly key: number;
      readonly headers: Record<string, string>;
    }
  | { readonly kind: 'add' }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'suspend' | 'resume' }
  | { readonly kind: 'revoke' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('get' as const),
      path: fc.constantFrom(
        '/v1/pets?limit=2',
        '/v1/pets?status=sold',
        '/v1/pets/1',
        '/v1/pets/99',
        '/v1/pets?limit=0',
      ),
      key: fc.nat(2),
      headers: fc.constantFrom<Record<string, string>>(
        {},
        { accept: 'text/html' },
        { accept: 'application/json' },
        { 'if-none-match': '*' },
        { 'if-none-match': '"other"' },
        { origin: 'https://shop.example' },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 5_000, 60_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('suspend' as const, 'resume' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const) }) },
);

/** Takes the steps as a new client of a service and answers everything that was seen on the way. */
async function walk(steps: readonly Step[], on: TestService): Promise<object[]> {
  on.clock.advance(60_000);
  const service = await asClient(on, { plan: 'enterprise', limits: { perMinute: 15, perDay: 1_000 } });
  const [reader, writer] = [
    await service.issueKey({ scopes: ['pets:read'] }),
    await service.issueKey({ scopes: ['pets:write'] }),
  ];
  const keys = [service.key, reader.key, writer.key];
  const clients = service.app.get(ClientsService);
  const answers: object[] = [];
  for (const one of steps) {
    if (one.kind === 'get') {
      const { path, headers, key } = one;
      answers.push(seen(await service.request('GET', path, { key: keys[key] ?? service.key, headers })));
    } else if (one.kind === 'add') {
      const json = { name: `Animal ${answers.length}`, categoryId: 1, status: 'sold' };
      answers.push(seen(await service.request('POST', '/v1/pets', { json })));
    } else if (one.kind === 'wait') service.clock.advance(one.ms);
    else {
      const order =
        one.kind === 'revoke'
          ? service.app.get(ApiKeysService).revoke(reader.id, {}, SERVICE_ITSELF)
          : one.kind === 'suspend'
            ? clients.suspend(service.clientId, {}, SERVICE_ITSELF)
            : clients.resume(service.clientId, SERVICE_ITSELF);
      // Twice is refused, which is not what is looked at here.
      await order.catch(() => undefined);
    }
  }
  return answers;
}

describe('what is cached', () => {
  it('is answered as on the plain way, whatever else happens', async () => {
    const environment = { CORS_ORIGINS: 'https://shop.example' };
    // Both go through the same steps, so that they hold the same rows.
    const [cached, plain] = [await open({ environment }), withoutCaches(await open({ environment }))];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        expect(await walk(steps, cached)).toEqual(await walk(steps, plain));
      }),
      { numRuns: 12 },
    );
  });

  it('is answered from memory: the database is not asked', async () => {
    const service = await open();
    await service.seed();
    const first = await service.request('GET', '/v1/pets?limit=2');
    const { logger } = service.app.get(DataSource);
    const asked: string[] = [];
    service.app.get(DataSource).logger = new Proxy(logger, {
      get: (target, name) =>
        name === 'logQuery' ? (sql: string) => asked.push(sql) : (Reflect.get(target, name) as unknown),
    });
    // What happens after the demo data was added may commit between two requests.
    await vi.waitFor(async () => {
      asked.length = 0;
      const second = await service.request('GET', '/v1/pets?limit=2');
      expect([second.status, second.text, second.headers.get('etag')]).toEqual([
        200,
        first.text,
        first.headers.get('etag'),
      ]);
      expect(asked.filter((sql) => sql.includes('pets'))).toEqual([]);
    }, 30_000);
    service.app.get(DataSource).logger = logger;
  });

  it('counts, is logged and measured by its route as on the plain way', async () => {
    const service = await open();
    const { pino } = service.app.get(AppLogger);
    // Lines of a level that is not logged are not even made.
    pino.level = 'info';
    const logged = vi.spyOn(pino, 'info').mockReturnValue(undefined);
    for (let sent = 0; sent < 3; sent += 1) await service.request('GET', '/v1/pets?limit=2');
    const { headers } = await service.request('GET', '/v1/pets?limit=2');
    expect(headers.get('ratelimit')).toContain('"minute";r=996;');
    // The line is written when the response is closed, which may be after its client has read it.
    await expect.poll(() => logged.mock.calls.length).toBe(4);
    for (const [line] of logged.mock.calls)
      expect(line).toMatchObject({
        method: 'GET',
        route: '/v1/pets',
        status: 200,
        clientId: service.clientId,
      });
    const labels = { method: 'GET', route: '/v1/pets', status: '200' };
    for (const name of ['http_requests_total', 'http_request_duration_seconds_count'])
      expect(await service.metric(name, labels)).toBe(4);
  });
});

it('each of two services on one SQLite file answers at once what the other has acknowledged', async () => {
  const environment = { DATABASE_URL: await databaseOfTest() };
  const services = [await open({ environment }), await open({ environment })] as const;
  const { key } = services[0];
  const lastOf = async (service: TestService) =>
    (await service.request('GET', '/v1/pets?limit=100&status=pending', { key })).body.at(-1)?.name;
  for (let round = 0; round < 20; round += 1) {
    const [writer, reader] = round % 2 === 0 ? services : [services[1], services[0]];
    const json = { name: `R${round}`, categoryId: 1, status: 'pending' };
    // Both cache the list as it was, so that whatever is cached is there to be stale.
    await Promise.all(services.map(lastOf));
    expect((await writer.request('POST', '/v1/pets', { key, json })).status).toBe(201);
    expect([await lastOf(reader), await lastOf(writer)]).toEqual([json.name, json.name]);
  }
});

class NumberDto {
  @Integer({ description: 'How many answers were made', minimum: 0, maximum: 1_000 })
  number!: number;
}

@Controller({ path: 'numbers', version: '1' })
class NumbersController {
  static made = 0;

  @Get('value')
  @Cached()
  @described('value', { type: NumberDto })
  value(): NumberDto {
    return { number: (NumbersController.made += 1) };
  }

  @Get('cookie')
  @Cached()
  @described('cookie', { type: NumberDto })
  cookie(@Res({ passthrough: true }) response: Response): JsonText<NumberDto> {
    response.cookie('made', String((NumbersController.made += 1)));
    return new JsonText('{"number":1}');
  }
}

@Module({ controllers: [NumbersController] })
class NumbersModule {}

describe('what is not cached, although its handler is @Cached()', () => {
  it('a value that is no JsonText, of which a warning says so once, and an answer with a cookie, which belongs to its request', async () => {
    const service = await open({ modules: [NumbersModule] });
    const warned = vi.spyOn(Logger.prototype, 'warn');
    const told = [];
    for (let asked = 0; asked < 3; asked += 1)
      told.push(((await service.request('GET', '/v1/numbers/value')).body as NumberDto).number);
    expect(new Set(told).size).toBe(3);
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('NumbersController.value'));
    const cookies = [];
    for (let asked = 0; asked < 2; asked += 1)
      cookies.push((await service.request('GET', '/v1/numbers/cookie')).headers.get('set-cookie'));
    expect(cookies[0]).not.toBe(cookies[1]);
  });
});
