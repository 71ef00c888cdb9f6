import {
  type ArgumentMetadata,
  type ArgumentsHost,
  Body,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  Headers,
  Injectable,
  Ip,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  type PipeTransform,
  Post,
  Query,
  Req,
  Res,
  Scope,
  Sse,
  StreamableFile,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  createParamDecorator,
} from '@nestjs/common';
import { IsArray } from 'class-validator';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import fc from 'fast-check';
import { type Observable, map, of, tap } from 'rxjs';
import { type MockInstance, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, CurrentClient, callerOf } from '../../src/auth/caller.js';
import { Cached } from '../../src/http/caching/response-cache.js';
import { DemoData } from '../../src/database/demo-data.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { ErrorFilter } from '../../src/core/errors/error.filter.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { CompiledOperation } from '../../src/http/adapter/compiled-operation.js';
import { AsyncInterceptor } from '../../src/http/async.interceptor.js';
import { Metrics } from '../../src/core/metrics/metrics.js';
import { Operation } from '../../src/http/operation.decorator.js';
import { byNest } from '../support/by-nest.js';
import { type Answer, TestService, type TestServiceOptions } from '../kit/test-service.js';

let run: MockInstance<CompiledOperation['run']>;
beforeEach(() => {
  run = vi.spyOn(CompiledOperation.prototype, 'run');
});

async function open(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await TestService.open(options);
  onTestFinished(() => service.close());
  return service;
}

/** What a client can see of an answer, but for what differs each time. */
function seen(path: string, { status, text, headers }: Answer): object {
  const { date: _date, 'x-request-id': _id, etag, ...rest } = Object.fromEntries(headers);
  // Whether a refusal keeps its connection depends on how much of the body had arrived by then.
  const { connection: _connection, 'keep-alive': _keepAlive, ...shown } = rest;
  if (!path.startsWith('/admin')) return { status, text, headers: shown, etag };
  // What tells of a client has another tag in each store, because the client has another id; and whether a last use is shown
  // already depends on when it was written.
  const { 'content-length': _length, ...ofAdmin } = shown;
  return {
    status,
    text: text.replaceAll(/"lastUsedAt":[^,]*|"deprecatedCalls":\[[^\]]*\]/g, ''),
    headers: ofAdmin,
    etag: typeof etag,
  };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: 'own' | 'none' | 'wrong';
  readonly headers: Readonly<Record<string, string>>;
  readonly json: string | undefined;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PATCH', 'OPTIONS'),
  path: fc.constantFrom(
    '/v1/pets',
    '/v1/pets?limit=3',
    '/v1/pets?limit=3&status=sold&limit=4',
    '/v1/pets?limit=x&status=lost',
    '/v1/pets?cursor=made-up',
    '/v1/pets/1',
    '/v1/pets/99999',
    '/v1/pets/x',
    '/v1/pets/%31',
    '/v1/pets/',
    '/v1/pets?#limit=2',
    '/admin/clients?limit=1',
    '/admin/clients/none',
    '/admin/keys/none/revoke',
    '/admin/usage',
  ),
  key: fc.constantFrom('own', 'own', 'own', 'none', 'wrong'),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    {},
    { 'if-none-match': '*' },
    { 'if-none-match': '"other"' },
    { 'if-modified-since': 'Fri, 20 Nov 2026 12:00:00 GMT' },
    { accept: 'text/html' },
    { 'idempotency-key': 'once' },
    { origin: 'https://shop.example' },
    { 'content-type': 'text/plain' },
  ),
  json: fc.constantFrom(undefined, '{"name":"Rex","categoryId":1}', '{"name":5,"age":2}', '{'),
});

/** Sends the requests to a new store; answers everything that was seen, and what was measured. */
async function walk(requests: readonly Sent[]): Promise<object> {
  const service = await TestService.open({
    scopes: ['pets:read', 'pets:write', 'admin'],
    plan: 'enterprise',
    limits: { perMinute: 12, perDay: 1_000 },
    environment: { CORS_ORIGINS: 'https://shop.example' },
  });
  await service.app.get(DemoData).add(10);
  const keys = { own: service.key, none: null, wrong: `${service.key.slice(0, -1)}!` };
  const answers = [];
  for (const { method, path, key, headers, json } of requests) {
    const body = json === undefined || method === 'GET' || method === 'HEAD' ? {} : { json };
    const answer = await service.request(method, path, { key: keys[key], headers, ...body });
    answers.push(seen(path, answer));
  }
  // Not what differs from second to second: counters are written then, which voids what is cached of a database in memory.
  const measured = (await service.app.get(Metrics).exposition()).text
    .split('\n')
    .filter((line) => /^(?:http_requests_total|petstore_)/.test(line))
    .filter((line) => !/^petstore_(?:database_connections|database_waiting|cache_\w+)\b/.test(line));
  await service.close();
  // Clients get new ids in each store.
  const ids = /[0-9a-f]{8}-[0-9a-f-]{27}/g;
  return JSON.parse(JSON.stringify({ answers, measured }).replaceAll(ids, 'id')) as object;
}

describe('a compiled operation', () => {
  it('answers and measures whatever is sent as Nest’s own chain does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 5, maxLength: 30 }), async (requests) => {
        expect(await walk(requests)).toEqual(await byNest(() => walk(requests)));
      }),
      { numRuns: 25 },
    );
    expect(run).toHaveBeenCalled();
  });

  it.each([
    ['GET', '/v1/pets', 200],
    ['GET', '/v1/pets/1', 404],
    ['POST', '/v1/pets', 400],
    ['GET', '/admin/clients', 403],
  ])('runs %s %s', async (method, path, status) => {
    const service = await open();
    expect((await service.request(method, path)).status).toBe(status);
    expect(run).toHaveBeenCalledOnce();
  });

  it('is not what Nest’s own chain is compared with', async () => {
    const [service, own] = [await open(), await byNest(() => open())];
    await own.request('GET', '/v1/pets');
    expect(run).not.toHaveBeenCalled();
    await service.request('GET', '/v1/pets');
    expect(run).toHaveBeenCalledOnce();
  });
});

/** Declares no member, so that every one is shown. */
class Anything {}

const declared = (id: string, status = 200) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    answers: { status, description: 'Whatever', type: Anything },
  });
const Shout = createParamDecorator((word: string, context: ExecutionContext) =>
  [word, context.getHandler().name, context.getClass().name, context.getType()].join(' ').toUpperCase(),
);
const headed: NestInterceptor = {
  intercept: (context, next) => {
    context.switchToHttp().getResponse<Response>().setHeader('X-Around', 'yes');
    return next.handle();
  },
};

class Listed {
  @IsArray()
  a!: unknown[];
}

@Controller({ path: 'plain', version: '1' })
class PlainController {
  @Get('text/:a/and/:b')
  @declared('text')
  text(
    @Param() all: Record<string, string>,
    @Param('a') a: string,
    @Query('q') q: string,
    @Headers('X-Word') word: string,
    @Ip() ip: string,
    @Shout('hello') shout: string,
    @Req() request: Request,
  ): object {
    const { path, originalUrl, baseUrl, hostname, protocol } = request;
    return { all: { ...all }, a, q, word, ip, shout, path, originalUrl, baseUrl, hostname, protocol };
  }

  @Get('both/:a')
  @declared('both')
  both(@Param('a') a: string, @Query('q') q: string): object {
    return { a, q };
  }

  @Get('later')
  @declared('later')
  later(): Observable<object> {
    return of({ first: 1 }, { second: 2 });
  }

  @Get('nothing')
  @declared('nothing', 204)
  nothing(): void {}

  @Get('file')
  @declared('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('bytes'), { type: 'application/x-bytes' });
  }

  @Post('passthrough')
  @declared('passthrough', 201)
  passthrough(@Body() body: Listed, @Res({ passthrough: true }) response: Response): object {
    response.status(202).append('X-Own', 'a').append('X-Own', 'b');
    return { body, locals: typeof response.locals };
  }

  @Get('refused')
  @declared('refused')
  refused(): never {
    throw new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'of the test' } });
  }

  @Get('crash')
  @declared('crash')
  async crash(): Promise<never> {
    await Promise.resolve();
    throw new Error('a secret');
  }

  @Get('type')
  @declared('type')
  type(@Res({ passthrough: true }) response: Response): string {
    response.setHeader('Content-Type', 'text/plain');
    return 'päivää';
  }

  @Get('bodiless/:status')
  @declared('bodiless')
  bodiless(@Param('status') status: string, @Res({ passthrough: true }) response: Response): object {
    response.status(Number(status));
    return { affected: 1 };
  }

  @Get('kept')
  @Cached()
  @declared('kept')
  kept(@CurrentClient() { clientId }: Caller, @Res({ passthrough: true }) response: Response): object {
    response.cookie('session', clientId);
    return {};
  }

  @Get('fresh')
  @declared('fresh')
  fresh(@Res({ passthrough: true }) response: Response): object {
    response.set({ 'Cache-Control': 'max-age=60', ETag: '"own"' });
    return {};
  }
}

@Controller({ path: 'special', version: '1' })
class SpecialController {
  @Get('guards')
  @UseGuards({ canActivate: () => false } satisfies CanActivate)
  @declared('guards')
  guards(): object {
    return {};
  }

  @Get('interceptors')
  @UseInterceptors(headed)
  @declared('interceptors')
  interceptors(): object {
    return {};
  }

  @Get('pipes')
  @UsePipes({ transform: () => ({ replaced: true }) } satisfies PipeTransform)
  @declared('pipes')
  pipes(@Query() query: object): object {
    return query;
  }

  @Get('pipe/:id')
  @declared('pipe')
  pipe(@Param('id', ParseIntPipe) id: number): object {
    return { id };
  }

  @Get('filters')
  @UseFilters(ErrorFilter)
  @declared('filters')
  filters(): never {
    throw new Error('caught');
  }

  @Get('headers')
  @Header('X-Own', 'yes')
  @declared('headers')
  headers(): object {
    return {};
  }

  @Get('response')
  @declared('response')
  response(@Res() response: Response): void {
    response.status(203).type('text/plain').send('by hand');
  }
}

@Controller({ path: 'scoped', version: '1', scope: Scope.REQUEST })
class ScopedController {
  private asked = 0;

  @Get()
  @declared('scoped')
  count(): object {
    return { asked: (this.asked += 1) };
  }
}

@Controller({ path: 'events', version: '1' })
class EventsController {
  @Sse()
  events(): Observable<{ data: object }> {
    return of({ data: { n: 1 } }, { data: { n: 2 } });
  }
}

@Module({ controllers: [PlainController, SpecialController, ScopedController, EventsController] })
class VariousModule {}

describe('an added operation', () => {
  it.each([
    ['takes whatever Nest can give a parameter', 'GET', '/v1/plain/text/x/and/y%20z?q=1', true],
    ['takes the same in a plain path', 'GET', '/v1/plain/text/x/and/y?q=1&q=2', true],
    ['answers an Observable', 'GET', '/v1/plain/later', true],
    ['answers nothing', 'GET', '/v1/plain/nothing', true],
    ['answers a stream', 'GET', '/v1/plain/file', true],
    ['sets status and headers itself', 'POST', '/v1/plain/passthrough', true],
    ['refuses', 'GET', '/v1/plain/refused', true],
    ['crashes', 'GET', '/v1/plain/crash', true],
    ['revalidates itself', 'GET', '/v1/plain/fresh', true],
    ['sets a type of its own', 'GET', '/v1/plain/type', true],
    ['answers something with 204', 'GET', '/v1/plain/bodiless/204', true],
    ['answers something with 205', 'GET', '/v1/plain/bodiless/205', true],
    ['answers something with 304', 'GET', '/v1/plain/bodiless/304', true],
    ['has guards of its own', 'GET', '/v1/special/guards', false],
    ['has interceptors of its own', 'GET', '/v1/special/interceptors', false],
    ['has pipes of its own', 'GET', '/v1/special/pipes?x=1', false],
    ['has a pipe on a parameter', 'GET', '/v1/special/pipe/7', false],
    ['has filters of its own', 'GET', '/v1/special/filters', false],
    ['has headers of its own', 'GET', '/v1/special/headers', false],
    ['writes its response itself', 'GET', '/v1/special/response', false],
    ['is made for each request', 'GET', '/v1/scoped', false],
  ])('that %s is answered as by Nest: %s %s, compiled: %s', async (_, method, path, isCompiled) => {
    const options = { modules: [VariousModule] };
    const [service, nests] = [await open(options), await byNest(() => open(options))];
    const conditions: Record<string, string>[] = [{ 'x-word': 'hi' }, { 'if-none-match': '"own"' }];
    for (const headers of conditions) {
      const own = await ask(nests, method, path, headers);
      expect(run).not.toHaveBeenCalled();
      const answer = await ask(service, method, path, headers);
      expect(run.mock.calls.length > 0).toBe(isCompiled);
      expect(answer).toEqual(own);
      run.mockClear();
    }
  });
});

/** What is answered to a request that no document knows, but for what differs each time and the day's quota. */
async function ask(
  service: TestService,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<object> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json', ...headers },
    ...(method === 'POST' ? { body: '{"a":[1]}' } : {}),
  });
  const differing = new Set([
    'date',
    'x-request-id',
    'ratelimit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ]);
  return {
    status: response.status,
    text: await response.text(),
    headers: [...response.headers].filter(([name]) => !differing.has(name)),
  };
}

describe('server-sent events', () => {
  it('pass through, one by one', async () => {
    const service = await open({ modules: [VariousModule] });
    const response = await fetch(`${service.url}/v1/events`, {
      headers: { authorization: `Bearer ${service.key}`, accept: 'text/event-stream' },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await response.text()).toMatch(/data: \{"n":1\}\n\n[^]*data: \{"n":2\}\n\n/);
    expect(run).not.toHaveBeenCalled();
  });
});

@Injectable()
class ClosedOnMondays implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Truthful implements CanActivate {
  canActivate(): Promise<boolean> {
    // As Nest has it, what a guard answers is asked for its truth.
    return Promise.resolve('yes' as unknown as boolean);
  }
}

@Injectable()
class Naming extends AsyncInterceptor {
  around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const http = context.switchToHttp();
    http.getResponse<Response>().setHeader('X-Served-For', callerOf(http.getRequest())?.clientId ?? '');
    return next();
  }
}

@Injectable()
class Overriding extends AsyncInterceptor {
  around(_: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    return next();
  }

  override intercept(): Observable<unknown> {
    return of({ overridden: true });
  }
}

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(...[, next]: Parameters<NestInterceptor['intercept']>): Observable<unknown> {
    return next.handle().pipe(map((body: unknown) => ({ wrapped: body })));
  }
}

@Injectable()
class Telling implements NestInterceptor {
  intercept(...[, next]: Parameters<NestInterceptor['intercept']>): Observable<unknown> {
    return next.handle().pipe(tap(() => undefined));
  }
}

@Injectable()
class Lower implements PipeTransform {
  transform(value: unknown): unknown {
    return typeof value === 'string' ? value.toLowerCase() : value;
  }
}

/** What Slow has done, in its order. */
const piped: string[] = [];

@Injectable()
class Slow implements PipeTransform {
  async transform(value: unknown, { data }: ArgumentMetadata): Promise<unknown> {
    piped.push(`${String(data)} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    piped.push(`${String(data)} ends`);
    return value;
  }
}

class TeapotFilter extends ErrorFilter {
  override catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).end();
  }
}

@Catch()
class PlainFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(418).json({});
  }
}

/** A module that adds one thing to every request. */
function global(token: string, useClass: Type): Type {
  @Module({ providers: [{ provide: token, useClass }] })
  class GlobalModule {}
  return GlobalModule;
}

@Module({})
class MiddlewareModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: Request, response: Response, next: NextFunction) => {
        response.setHeader('X-Passed', 'yes');
        next();
      })
      .forRoutes('v1/pets');
  }
}

describe('what a module adds for every operation', () => {
  it('a guard is run, by compiled operations too', async () => {
    const service = await open({ modules: [global(APP_GUARD, ClosedOnMondays)] });
    expect((await fetchPets(service)).status).toBe(403);
    expect(run).toHaveBeenCalled();
  });

  it.each([
    ['filter', PlainFilter],
    ['filter derived from the platform’s', TeapotFilter],
  ] as const)('a %s is run, by Nest', async (_, type) => {
    const service = await open({ modules: [global(APP_FILTER, type)] });
    expect((await fetchPets(service, '/v1/pets?limit=0')).status).toBe(418);
    expect(run).not.toHaveBeenCalled();
  });

  it.each([
    ['changes the answer', Wrapping, /^\{"wrapped":\[\{"id":1,"name":"Biscuit",/],
    ['only looks on', Telling, /^\[\{"id":1,"name":"Biscuit",/],
    ['overrides what Nest calls of an AsyncInterceptor', Overriding, /^\{"overridden":true\}$/],
  ] as const)('an interceptor that %s is run by compiled operations', async (_, type, text) => {
    const service = await open({ modules: [global(APP_INTERCEPTOR, type)] });
    await service.app.get(DemoData).add(1);
    // Twice: nothing may be answered from a memory in front of it.
    for (let asked = 0; asked < 2; asked += 1) expect(await (await fetchPets(service)).text()).toMatch(text);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('a guard that answers something true lets pass', async () => {
    const service = await open({ modules: [global(APP_GUARD, Truthful)] });
    expect((await fetchPets(service)).status).toBe(200);
    expect(run).toHaveBeenCalled();
  });

  it('an AsyncInterceptor is run by compiled operations, for every caller', async () => {
    const service = await open({ modules: [global(APP_INTERCEPTOR, Naming)] });
    const other = await service.issueKey({ plan: 'pro' });
    const servedFor = [];
    for (const key of [service.key, service.key, other.key]) {
      const { headers } = await service.request('GET', '/v1/pets', { key });
      servedFor.push(headers.get('x-served-for'));
    }
    expect(run).toHaveBeenCalledTimes(3);
    expect(servedFor[1]).toBe(service.clientId);
    expect(servedFor[2]).not.toBe(service.clientId);
  });

  it('an answer with a cookie is cached for nobody', async () => {
    const service = await open({ modules: [VariousModule] });
    const other = await service.issueKey({ plan: 'pro' });
    const cookies = [];
    for (const key of [service.key, other.key]) {
      const response = await fetch(`${service.url}/v1/plain/kept`, {
        headers: { authorization: `Bearer ${key}` },
      });
      cookies.push(response.headers.get('set-cookie'));
    }
    expect(cookies[0]).toContain(service.clientId);
    expect(cookies[1]).not.toContain(service.clientId);
  });

  it('a pipe is run behind the platform’s, by compiled operations too', async () => {
    const options = { modules: [VariousModule, global(APP_PIPE, Lower)] };
    for (const service of [await byNest(() => open(options)), await open(options)]) {
      const answered = await fetchPets(service, '/v1/plain/both/SOLD?q=OLD');
      expect([answered.status, await answered.text()]).toEqual([200, '{"a":"sold","q":"old"}']);
      // The platform's own refuses it first.
      expect((await fetchPets(service, '/v1/pets?status=SOLD')).status).toBe(400);
    }
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('pipes of several parameters start together', async () => {
    const options = { modules: [VariousModule, global(APP_PIPE, Slow)] };
    const starts = [];
    for (const service of [await byNest(() => open(options)), await open(options)]) {
      piped.length = 0;
      expect((await fetchPets(service, '/v1/plain/both/1?q=2')).status).toBe(200);
      starts.push([...piped]);
    }
    const together = ['q begins', 'a begins', 'q ends', 'a ends'];
    expect(starts).toEqual([together, together]);
    expect(run).toHaveBeenCalledOnce();
  });

  it('a middleware is passed through', async () => {
    const service = await open({ modules: [MiddlewareModule] });
    for (const path of ['/v1/pets', '/v1/pets?limit=1', '/v1/pets?limit=1'])
      expect((await fetchPets(service, path)).headers.get('x-passed')).toBe('yes');
    expect(run).toHaveBeenCalledTimes(3);
    // Of other paths it knows nothing.
    expect((await fetchPets(service, '/admin/clients')).headers.get('x-passed')).toBeNull();
  });
});

function fetchPets(service: TestService, path = '/v1/pets?limit=1') {
  return fetch(service.url + path, { headers: { authorization: `Bearer ${service.key}` } });
}
