import { Controller, Get, Logger, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { Cached } from '../../../src/http/caching/cached.decorator.js';
import { ResponseCache } from '../../../src/http/caching/response-cache.js';
import { JsonText } from '../../../src/database/json-rows.js';
import { Integer } from '../../../src/http/validation/fields.js';
import { AppLogger } from '../../../src/core/logging/app-logger.js';
import { databaseOfTest } from '../../support/service-process.js';
import type { TestService } from '../../kit/test-service.js';
import { openForTest } from '../../support/opened.js';
import { described } from '../../support/described.js';

describe('what is cached', () => {
  it('is served from memory, without a query', async () => {
    const service = await openForTest();
    await service.seed();
    const first = await service.request('GET', '/v1/pets?limit=2');
    const { logger } = service.app.get(DataSource);
    const statements: string[] = [];
    service.app.get(DataSource).logger = new Proxy(logger, {
      get: (target, name) =>
        name === 'logQuery' ? (sql: string) => statements.push(sql) : (Reflect.get(target, name) as unknown),
    });
    // What happens after the demo data was added may commit between two requests.
    await vi.waitFor(async () => {
      statements.length = 0;
      const second = await service.request('GET', '/v1/pets?limit=2');
      expect([second.status, second.text, second.headers.get('etag')]).toEqual([
        200,
        first.text,
        first.headers.get('etag'),
      ]);
      expect(statements.filter((sql) => sql.includes('pets'))).toEqual([]);
    }, 30_000);
    service.app.get(DataSource).logger = logger;
  });

  it('counts, is logged and measured by its route as on the plain way', async () => {
    const service = await openForTest();
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

it('each of two services on one SQLite file returns immediately what the other has acknowledged', async () => {
  const environment = { DATABASE_URL: await databaseOfTest() };
  const services = [await openForTest({ environment }), await openForTest({ environment })] as const;
  const { key } = services[0];
  const lastOf = async (service: TestService) =>
    (await service.request('GET', '/v1/pets?limit=100&status=pending', { key })).body.at(-1)?.name;
  for (let round = 0; round < 20; round += 1) {
    const [writer, reader] = round % 2 === 0 ? services : [services[1], services[0]];
    const json = { name: `R${round}`, categoryId: 1, status: 'pending' };
    // Both cache the current list, so that a cache that is not invalidated would be stale.
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

  @Get('text')
  @Cached()
  @described('text', { type: NumberDto })
  text(): JsonText<NumberDto> {
    return new JsonText(`{"number":${(NumbersController.made += 1)}}`);
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

it('a response from the cache ends its request: Nest runs neither pipes nor handler after the guard that has sent it', async () => {
  const service = await openForTest({ modules: [NumbersModule] });
  const { use } = service.app.get(ResponseCache);
  const before = { made: NumbersController.made, misses: use.misses, hits: use.hits };
  // What happens in the background may commit between two requests.
  while (use.hits < before.hits + 3)
    expect((await service.request('GET', '/v1/numbers/text')).body).toEqual({
      number: NumbersController.made,
    });
  expect(NumbersController.made - before.made).toBe(use.misses - before.misses);
});

describe('what is not cached, although its handler is @Cached()', () => {
  it('a value that is not a JsonText, with one warning, and a response with a cookie, which belongs to its request', async () => {
    const service = await openForTest({ modules: [NumbersModule] });
    const warned = vi.spyOn(Logger.prototype, 'warn');
    const numbers = [];
    for (let at = 0; at < 3; at += 1)
      numbers.push(((await service.request('GET', '/v1/numbers/value')).body as NumberDto).number);
    expect(new Set(numbers).size).toBe(3);
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('NumbersController.value'));
    const cookies = [];
    for (let at = 0; at < 2; at += 1)
      cookies.push((await service.request('GET', '/v1/numbers/cookie')).headers.get('set-cookie'));
    expect(cookies[0]).not.toBe(cookies[1]);
  });
});
