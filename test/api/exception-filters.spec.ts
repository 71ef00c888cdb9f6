import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  HttpStatus,
  Injectable,
  Logger,
  Module,
  NotFoundException,
  Param,
  Query,
  Scope,
  ServiceUnavailableException,
  type Type,
  UnauthorizedException,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { ApiError, type ErrorBody } from '../../src/core/errors/api-error.js';
import { ApiErrors } from '../../src/core/errors/api-errors.decorator.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { Int64 } from '../../src/http/validation/fields.js';
import type { TestService } from '../kit/test-service.js';
import { described } from '../support/described.js';
import { openForAll, openForTest } from '../support/opened.js';

/** The filter of Nest's documentation ("Exception filters"). */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const ctx = host.switchToHttp();
    const response = ctx.getResponse<Response>();
    const request = ctx.getRequest<Request>();
    const status = exception.getStatus();
    response.status(status).json({ statusCode: status, timestamp: 'now', path: request.url });
  }
}

/** Its filter of all exceptions ("Catch everything"). */
@Catch()
class CatchEverythingFilter implements ExceptionFilter {
  constructor(private readonly httpAdapterHost: HttpAdapterHost) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const { httpAdapter } = this.httpAdapterHost;
    const ctx = host.switchToHttp();
    const httpStatus =
      exception instanceof HttpException ? exception.getStatus() : HttpStatus.INTERNAL_SERVER_ERROR;
    const responseBody = {
      statusCode: httpStatus,
      timestamp: 'now',
      path: httpAdapter.getRequestUrl(ctx.getRequest()) as string,
    };
    httpAdapter.reply(ctx.getResponse(), responseBody, httpStatus);
  }
}

/** A filter that sends something else for each exception. */
function filterOf(send: (response: Response, exception: HttpException) => unknown): Type<ExceptionFilter> {
  @Catch(HttpException)
  class SendingFilter implements ExceptionFilter {
    catch(exception: HttpException, host: ArgumentsHost): void {
      const response = host.switchToHttp().getResponse<Response>();
      send(response.status(exception.getStatus()), exception);
    }
  }
  return SendingFilter;
}

const KITE_ERRORS = defineErrors({
  kite_expired: {
    status: 401,
    message: 'The kite has expired',
    cause: 'The kite is older than a day.',
    remedy: 'Make a new kite.',
  },
});

class IdParams {
  @Int64()
  id!: bigint;
}

class OfQuery {
  @Int64()
  of!: bigint;
}

@Controller({ path: 'throws', version: '1' })
@RequireScopes()
class ThrowingController {
  constructor(private readonly dataSource: DataSource) {}

  @Get('in-progress')
  inProgress(): never {
    throw new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
  }

  @Get('signed-out')
  signedOut(): never {
    throw new UnauthorizedException();
  }

  @Get('expired')
  expired(): never {
    throw new ApiError(KITE_ERRORS.kite_expired);
  }

  @Get('own-scheme')
  ownScheme(): never {
    throw new ApiError(KITE_ERRORS.kite_expired, { headers: { 'WWW-Authenticate': 'Kite realm="{realm}"' } });
  }

  @Get('unavailable')
  unavailable(): never {
    throw new ServiceUnavailableException('pg-7 is away');
  }

  @Get('unknown')
  unknown(): never {
    throw new NotFoundException('No kite 7');
  }

  @Get('broken')
  broken(): never {
    throw new TypeError('secret');
  }

  @Get('taken')
  async conflict(): Promise<void> {
    await this.dataSource.query('CREATE TABLE IF NOT EXISTS kite_names (name TEXT UNIQUE)');
    for (let at = 0; at < 2; at += 1) await this.dataSource.query(`INSERT INTO kite_names VALUES ('Red')`);
  }

  @Get('file')
  @described('kiteFile', { contentType: 'text/csv' })
  file(): never {
    throw new NotFoundException('No kite 7');
  }

  @Get(':id/of')
  faulty(@Param() params: IdParams, @Query() query: OfQuery): object {
    return [params, query];
  }
}

function moduleWith(filter: Type<ExceptionFilter>): Type {
  @Module({ controllers: [ThrowingController], providers: [{ provide: APP_FILTER, useClass: filter }] })
  class FilteredModule {}
  return FilteredModule;
}

async function responseOf(service: TestService, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${service.key}`, ...(init.headers as object) };
  const response = await fetch(`${service.url}${path}`, { ...init, headers });
  return { response, text: await response.text() };
}

const NO_KEY = { headers: { authorization: '' } };
const REFUSALS: [string, RequestInit, number, string, string?, string?][] = [
  ['/v1/pets', NO_KEY, 401, 'missing_api_key', 'www-authenticate', 'Bearer realm="petstore"'],
  ['/v1/pets', { method: 'DELETE' }, 405, 'method_not_allowed', 'allow', 'GET, HEAD, OPTIONS, POST'],
  ['/v1/throws/in-progress', {}, 409, 'idempotency_in_progress', 'retry-after', '1'],
  ['/v1/throws/signed-out', {}, 401, 'unauthorized', 'www-authenticate', 'Bearer realm="petstore"'],
  ['/v1/throws/expired', {}, 401, 'kite_expired', 'www-authenticate', 'Bearer realm="petstore"'],
  ['/v1/throws/own-scheme', {}, 401, 'kite_expired', 'www-authenticate', 'Kite realm="petstore"'],
  ['/v1/throws/unavailable', {}, 503, 'service_unavailable', 'retry-after', '1'],
  ['/v1/nothing', {}, 404, 'route_not_found'],
  ['/v1/pets/7', {}, 404, 'pet_not_found'],
  ['/v1/throws/unknown', {}, 404, 'not_found'],
  ['/v1/throws/file', {}, 404, 'not_found'],
];

describe.each<[string, Type<ExceptionFilter>]>([
  ['of Nest’s documentation', HttpExceptionFilter],
  ['of all exceptions', CatchEverythingFilter],
  ['that ends the response', filterOf((response) => response.end())],
  ['that sends JSON as a text', filterOf((response) => response.type('json').send('{"path":"/"}'))],
  ['that sends a list', filterOf((response) => response.send([1]))],
])('a filter %s', async (_, filter) => {
  const service = await openForAll({ modules: [moduleWith(filter)] });

  it.each(REFUSALS)(
    'leaves the refusal of %s %j its code and headers: %s %s',
    async (path, init, status, code, header, value) => {
      const { response, text } = await responseOf(service, path, init);
      const body = JSON.parse(text) as Record<string, unknown>;
      expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
      expect([response.status, body['status'], body['code']]).toEqual([status, status, code]);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      if (header !== undefined) expect(response.headers.get(header)).toBe(value);
      expect(response.headers.has('x-ratelimit-limit')).toBe(true);
      expect(text).not.toContain('pg-7');
    },
  );

  it('leaves the errors of all arguments in a 400', async () => {
    const { response, text } = await responseOf(service, '/v1/throws/x/of?of=y');
    expect(response.status).toBe(400);
    const { code, details } = JSON.parse(text) as ErrorBody;
    expect([code, details?.map(({ field }) => field).toSorted()]).toEqual([
      'validation_failed',
      ['id', 'of'],
    ]);
  });
});

describe('a filter of all exceptions', async () => {
  const service = await openForAll({ modules: [moduleWith(CatchEverythingFilter)] });

  it.each(['broken', 'taken'])('has the code of the status that it sends: %s', async (path) => {
    const logged = vi.spyOn(Logger.prototype, 'error');
    onTestFinished(() => logged.mockRestore());
    const { response, text } = await responseOf(service, `/v1/throws/${path}`);
    expect([response.status, JSON.parse(text)]).toMatchObject([500, { code: 'internal_error' }]);
    expect(text).not.toContain('secret');
    expect(logged.mock.calls.flat().join('\n')).toMatch(/secret|UNIQUE|unique/);
  });
});

describe('what a filter sends', () => {
  const sent = async (
    send: (response: Response, exception: HttpException) => unknown,
    path = '/v1/pets/7',
  ) => {
    const service = await openForTest({ modules: [moduleWith(filterOf(send))] });
    const { response, text } = await responseOf(service, path, path === '/v1/pets' ? NO_KEY : {});
    return { status: response.status, type: response.headers.get('content-type'), response, text };
  };

  it.each<[string, (response: Response) => unknown, object]>([
    [
      'its message',
      (r) => r.json({ message: 'Gone', error: 'x' }),
      { code: 'pet_not_found', message: 'Gone' },
    ],
    ['a text', (r) => r.send('Gone'), { code: 'pet_not_found', message: 'Gone' }],
    ['a text at its end', (r) => r.end('Gone'), { code: 'pet_not_found', message: 'Gone' }],
    ['no text as message', (r) => r.json({ message: ['a'] }), { code: 'pet_not_found' }],
    [
      'another status',
      (r) => r.status(410).json({ message: 'Gone' }),
      { code: 'gone', message: 'Gone', status: 410 },
    ],
    [
      'more than the Error body',
      (r) => r.json({ code: 'pet_not_found', message: 'Gone', status: 404, path: '/' }),
      { code: 'pet_not_found', message: 'Gone' },
    ],
  ])('becomes the Error body, with %s', async (_, send, expected) => {
    const { type, text } = await sent(send);
    const body = JSON.parse(text) as object;
    expect(Object.keys(body)).toEqual(['code', 'message', 'status']);
    expect([type, body]).toMatchObject(['application/json; charset=utf-8', expected]);
  });

  it.each<[string, (response: Response, exception: HttpException) => unknown, string]>([
    [
      'application/problem+json',
      (r) => r.type('application/problem+json').json({ type: 'about:blank', status: r.statusCode }),
      '{"type":"about:blank","status":401}',
    ],
    ['text/html', (r) => r.type('html').send('<p>No</p>'), '<p>No</p>'],
  ])('as %s stays as it is, with the headers of the exception', async (type, send, expected) => {
    const own = await sent(send, '/v1/throws/expired');
    expect([own.status, own.response.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="petstore"',
    ]);
    const { status, type: received, response, text } = await sent(send, '/v1/pets');
    expect([status, text]).toEqual([401, expected]);
    expect(received).toContain(type);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="petstore"');
    expect(response.headers.get('x-ratelimit-limit')).toBe('60');
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

describe.each<[string, (exception: HttpException) => unknown]>([
  [
    'throws',
    (exception) => {
      throw exception;
    },
  ],
  ['rejects with', (exception) => Promise.reject(exception)],
])('a filter that %s its exception', async (_, rethrow) => {
  @Catch()
  class RethrowingFilter implements ExceptionFilter {
    catch(exception: HttpException): unknown {
      return rethrow(exception);
    }
  }
  const service = await openForAll({ modules: [moduleWith(RethrowingFilter)] });

  it.each<[string, number, string]>([
    ...REFUSALS.map(([path, , status, code]): [string, number, string] => [path, status, code]).slice(2),
    ['/v1/throws/taken', 409, 'already_exists'],
    ['/v1/throws/broken', 500, 'internal_error'],
  ])('leaves it to the service: %s', async (path, status, code) => {
    const { response, text } = await responseOf(service, path);
    expect([response.status, JSON.parse(text)]).toMatchObject([status, { code, status }]);
    expect(text).not.toMatch(/secret|pg-7/);
  });
});

it('what else a filter throws is refused as what a handler throws', async () => {
  const filter = filterOf(() => {
    throw new NotFoundException('No kite 8');
  });
  const service = await openForTest({ modules: [moduleWith(filter)] });
  const { response, text } = await responseOf(service, '/v1/throws/unavailable');
  expect([response.status, JSON.parse(text)]).toEqual([
    404,
    { code: 'not_found', message: 'No kite 8', status: 404 },
  ]);
});

describe('a filter of a route', () => {
  @Injectable({ scope: Scope.REQUEST })
  class OfRequestFilter extends HttpExceptionFilter {}

  @Controller({ path: 'kites', version: '1' })
  @RequireScopes()
  class KitesController {
    @Get('by-class')
    @UseFilters(HttpExceptionFilter)
    byClass(): never {
      throw new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
    }

    @Get('by-instance')
    @UseFilters(new HttpExceptionFilter())
    byInstance(): never {
      return this.byClass();
    }

    @Get('of-request')
    @UseFilters(OfRequestFilter)
    ofRequest(): never {
      return this.byClass();
    }
  }

  @Module({ controllers: [KitesController] })
  class KitesModule {}

  it.each(['by-class', 'by-instance', 'of-request'])('keeps the code and the headers: %s', async (path) => {
    const service = await openForTest({ modules: [KitesModule] });
    const { response, text } = await responseOf(service, `/v1/kites/${path}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '1']);
    expect(JSON.parse(text)).toMatchObject({ code: 'idempotency_in_progress' });
  });
});

it('a global filter that the documents do not describe is named at the start', async () => {
  @ApiErrors(HTTP_ERRORS.already_exists)
  class DescribedFilter extends HttpExceptionFilter {}
  const warned = vi.spyOn(Logger.prototype, 'warn');
  onTestFinished(() => warned.mockRestore());
  await openForTest({ modules: [moduleWith(HttpExceptionFilter), moduleWith(DescribedFilter)] });
  const lines = warned.mock.calls.map(([line]) => String(line));
  expect(lines.filter((line) => line.includes('Filter'))).toEqual([
    expect.stringMatching(
      /^HttpExceptionFilter: the OpenAPI documents do not describe the errors that this global filter sends/,
    ),
  ]);
});
