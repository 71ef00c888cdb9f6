import { Readable } from 'node:stream';
import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  ParseIntPipe,
  Query,
  Redirect,
  Res,
  Sse,
  StreamableFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { openForAll } from '../support/opened.js';
import { parseRaw, sendRaw } from '../support/raw-http.js';

/** How a middleware ends a request, by the last part of its path. */
const ENDS: Readonly<Record<string, (next: NextFunction) => unknown>> = {
  error: () => {
    throw new Error('A bug');
  },
  forbidden: () => {
    throw new ForbiddenException();
  },
  unavailable: () => {
    throw new ApiError(HTTP_ERRORS.service_unavailable, { params: { reason: 'it is closed' } });
  },
  missing: () => {
    throw new ApiError(HTTP_ERRORS.route_not_found);
  },
  rejects: () => Promise.reject(new BadRequestException()),
  next: (next) => next(new BadRequestException()),
  'next-error': (next) => next(new Error('A bug')),
  'http-error': (next) =>
    next(Object.assign(new Error('no'), { status: 400, statusCode: 400, expose: true })),
};

function endBy({ originalUrl }: Request, next: NextFunction): unknown {
  const end = ENDS[originalUrl.split('/').at(-1) ?? ''];
  return end ? end(next) : next();
}

/** How a middleware sends a response itself, by the last part of its path. */
const SENT: Readonly<Record<string, (response: Response) => unknown>> = {
  json: (response) => response.status(200).json({}),
  send: (response) => response.status(403).send('no'),
  end: (response) => response.status(204).end(),
  head: (response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end('raw'),
  reason: (response) => response.writeHead(418, 'Teapot', ['X-A', 'b']).end(),
  redirect: (response) => response.redirect('/elsewhere'),
  status: (response) => response.sendStatus(503),
  stream: (response) => Readable.from(['a', 'b']).pipe(response),
  flush: (response) => {
    response.flushHeaders();
    setImmediate(() => response.end('late'));
  },
  file: (response) => response.sendFile(import.meta.filename),
};

@Injectable()
class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Catch()
class TeapotFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).json({ message: 'no' });
  }
}

@Injectable()
class FailingInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, __: CallHandler) {
    return throwError(() => new Error('A bug'));
  }
}

@Controller({ path: 'ends', version: '1' })
class EndsController {
  @Get('fails')
  fails(): never {
    throw new Error('A bug');
  }

  @Get('guard')
  @UseGuards(RefusingGuard)
  guard(): void {}

  @Get('interceptor')
  @UseInterceptors(FailingInterceptor)
  interceptor(): void {}

  @Get('pipe')
  pipe(@Query('n', ParseIntPipe) _: number): void {}

  @Get('filter')
  @UseFilters(TeapotFilter)
  filter(): never {
    throw new Error('A bug');
  }

  @Get('raw')
  raw(@Res() response: Response): void {
    response.writeHead(200).end('raw');
  }

  @Get('json')
  json(@Res() response: Response): void {
    response.status(409).json({ message: 'no' });
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Readable.from(['file']));
  }

  @Get('redirect')
  @Redirect('/elsewhere')
  redirect(): void {}

  @Sse('news')
  news() {
    return of({ data: 'one' });
  }
}

@Module({ controllers: [EndsController] })
class EndsModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((request: Request, _: Response, next: NextFunction) => endBy(request, next))
      .forRoutes('middleware/*end', 'v1/middleware/*end')
      .apply(({ originalUrl }: Request, response: Response, next: NextFunction) => {
        const send = SENT[originalUrl.split('/').at(-1) ?? ''];
        return send ? send(response) : next();
      })
      .forRoutes('sent/*end', 'v1/sent/*end');
  }
}

const service = await openForAll({
  modules: [EndsModule],
  environment: { HEADERS_TIMEOUT_MS: '1000' },
  prepare: (app) =>
    app.use((request: Request, _: Response, next: NextFunction) =>
      request.path.startsWith('/express/') ? endBy(request, next) : next(),
    ),
});

async function limitOf(
  path: string,
  { headers: sent = {}, ...init }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  service.clock.advance(60_000);
  const { status, headers } = await fetch(service.url + path, {
    redirect: 'manual',
    ...init,
    headers: { authorization: `Bearer ${service.key}`, ...sent },
  });
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    headers.get(`x-ratelimit-${name}`),
  );
  expect(Number(reset) * 1_000).toBeGreaterThan(service.clock.now());
  return [status, limit, remaining];
}

describe('the rate-limit headers are carried by what ends', () => {
  // Before the guards the caller is its address, which a refusal counts for.
  it.each([
    ['error', 500, '60'],
    ['forbidden', 403, '59'],
    ['unavailable', 503, '60'],
    ['missing', 404, '59'],
    ['rejects', 400, '59'],
    ['next', 400, '59'],
    ['next-error', 500, '60'],
    ['http-error', 400, '59'],
  ])('in a middleware: %s', async (end, status, remaining) => {
    for (const path of ['/middleware', '/v1/middleware', '/express'])
      expect([path, ...(await limitOf(`${path}/${end}`))]).toEqual([path, status, '60', remaining]);
  });

  it.each([
    ['fails', 500],
    ['guard', 403],
    ['interceptor', 500],
    ['pipe?n=x', 400],
    ['filter', 418],
    ['raw', 200],
    ['json', 409],
    ['file', 200],
    ['redirect', 302],
    ['news', 200],
  ])('after the guards: %s', async (end, status) => {
    expect(await limitOf(`/v1/ends/${end}`)).toEqual([status, '1000', '999']);
  });

  it.each([
    ['json', 200],
    ['send', 403],
    ['end', 204],
    ['head', 200],
    ['reason', 418],
    ['redirect', 302],
    ['status', 503],
    ['stream', 200],
    ['flush', 200],
    ['file', 200],
  ])('by a response of a middleware: %s', async (end, status) => {
    // Nothing counts what no guard has seen.
    for (const path of ['/sent', '/v1/sent'])
      expect([path, ...(await limitOf(`${path}/${end}`))]).toEqual([path, status, '60', '60']);
  });

  it.each([
    ['OPTIONS', '/v1/pets', {}, 204],
    ['HEAD', '/v1/pets', {}, 200],
    ['GET', '/v1/pets', { 'if-match': '"x"' }, 412],
    ['POST', '/v1/pets', { 'content-type': 'application/json', 'content-encoding': 'x' }, 415],
  ])('by the platform: %s %s %j', async (method, path, headers, status) => {
    const body = method === 'POST' ? '{}' : undefined;
    expect(await limitOf(path, { method, headers, ...(body === undefined ? {} : { body }) })).toEqual([
      status,
      '1000',
      '999',
    ]);
  });

  it.each([
    ['a wrong path', '/v1/nothing', 'GET', 404],
    ['a wrong method', '/v1/pets', 'DELETE', 405],
  ])('with a key, and without one as a refusal of the credential: %s', async (_, path, method, status) => {
    expect(await limitOf(path, { method })).toEqual([status, '1000', '999']);
    expect(await limitOf(path, { method, headers: { authorization: '' } })).toEqual([401, '60', '59']);
  });

  it('from the cache, not modified, and as a stored response', async () => {
    expect(await limitOf('/v1/pets?limit=7')).toEqual([200, '1000', '999']);
    expect(await limitOf('/v1/pets?limit=7')).toEqual([200, '1000', '999']);
    expect(await limitOf('/v1/pets?limit=7', { headers: { 'if-none-match': '*' } })).toEqual([
      304,
      '1000',
      '999',
    ]);
    const once = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
      body: '{"name":"Rex","categoryId":1}',
    };
    expect(await limitOf('/v1/pets', once)).toEqual([201, '1000', '999']);
    expect(await limitOf('/v1/pets', once)).toEqual([201, '1000', '999']);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a head that is too large', `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a head that is late', 'GET /v1/pets HTTP/1.1\r\nHo', 408],
    ['a body that is late', 'POST /v1/ends/fails HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{', 401],
  ])('by the parser and its timeouts: %s', async (_, bytes, status) => {
    service.clock.advance(60_000);
    const raw = await sendRaw(service.url, bytes);
    expect(parseRaw(raw).status).toBe(status);
    expect(raw).toMatch(/x-ratelimit-limit: 60\r\nx-ratelimit-remaining: 59\r\nx-ratelimit-reset: \d+\r\n/i);
  });
});
