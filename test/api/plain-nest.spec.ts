import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  type INestApplicationContext,
  Injectable,
  Logger,
  Module,
  type NestInterceptor,
  Param,
  ParseIntPipe,
  Patch,
  type PipeTransform,
  Post,
  Query,
  Res,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  BaseExceptionFilter,
  NestFactory,
  RouterModule,
} from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Response } from 'express';
import { type Observable, Observable as Observed, map } from 'rxjs';
import { DataSource, type Repository } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { AppModule } from '../../src/root.module.js';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { Client } from '../../src/auth/clients/client.entity.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { JsonText } from '../../src/database/json-rows.js';
import { Cached } from '../../src/http/caching/cached.decorator.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Duration, Enum, Int64 } from '../../src/http/validation/fields.js';
import { MergePatch } from '../../src/http/validation/merge-patch.js';
import { issueKey } from '../kit/issued-key.js';
import { ON_POSTGRES } from '../support/databases.js';
import { described } from '../support/described.js';
import { application } from '../support/application.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const open = openForTest;
type RequestOptions = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> };

/** Sends a request whose answer contradicts the document, because a module has changed it. */
async function responseOf(service: TestService, path: string, init: RequestOptions = {}) {
  const headers = {
    authorization: `Bearer ${service.key}`,
    'content-type': 'application/json',
    ...init.headers,
  };
  const response = await fetch(`${service.url}${path}`, { ...init, headers });
  return { status: response.status, text: await response.text() };
}

function moduleOf(...controllers: Type[]): Type {
  @Module({ controllers })
  class AddedModule {}
  return AddedModule;
}

/** A module that adds one thing to every request. */
function globally(provide: string, useClass: Type): Type {
  @Module({ providers: [{ provide, useClass }] })
  class GlobalModule {}
  return GlobalModule;
}

@Injectable()
class Refusing implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Lower implements PipeTransform {
  transform(value: unknown): unknown {
    return typeof value === 'string' ? value.toLowerCase() : value;
  }
}

@Injectable()
class Renaming implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    const renamed = (pet: object): object => ({ secret: 1, ...pet, name: 'Renamed' });
    return next.handle().pipe(
      map((body: object) => {
        const value = body instanceof JsonText ? (body.toJSON() as object) : body;
        return Array.isArray(value) ? value.map(renamed) : renamed(value);
      }),
    );
  }
}

@Catch(HttpException)
class PassingFilter implements ExceptionFilter<HttpException> {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(exception.getStatus()).json(exception.getResponse());
  }
}

@Controller({ path: 'plain', version: '1' })
@Public()
class PlainController {
  static subscribed = 0;

  @Get('never')
  never(): Observable<object> {
    return new Observed(() => {
      PlainController.subscribed += 1;
      return () => (PlainController.subscribed -= 1);
    });
  }

  @Get('both/:a')
  both(@Param('a') a: string, @Query('q') q: string): object {
    return { a, q };
  }

  @Get('written')
  written(@Res() response: Response): void {
    response.status(203).json({ written: 2n ** 53n + 1n });
  }

  @Get('refused/:as')
  @HttpCode(409)
  refused(@Param('as') as: string): unknown {
    return { object: { message: 'Taken' }, text: 'Taken', nothing: undefined }[as];
  }

  /** As the package http-errors does. */
  @Get('thrown/:status')
  thrown(@Param('status', ParseIntPipe) status: number): never {
    throw Object.assign(new Error('Gone or secret'), { status, statusCode: status, expose: status < 500 });
  }

  @Get('named')
  @Header('Content-Type', () => 'text/csv')
  named(): string {
    return 'a,b\n';
  }

  @Post('property')
  property(@Body('name') name: string): object {
    return { name };
  }
}

class FieldsQuery {
  @Enum({ enumName: 'Side', values: ['a', 'b'], list: true, optional: true })
  sides?: string[];

  @Duration({ default: '5m' })
  within!: number;

  @Int64({ optional: true })
  id?: bigint;
}

class FieldsPatch extends MergePatch(FieldsQuery) {}

@Controller({ path: 'fields', version: '1' })
@Public()
class FieldsController {
  @Get()
  request(@Query() query: FieldsQuery): FieldsQuery {
    return query;
  }

  @Patch()
  change(@Body() patch: FieldsPatch): FieldsPatch {
    return patch;
  }
}

@Controller({ path: 'again', version: '1' })
@RequireScopes()
class AgainController {
  static calls = 0;

  @Post()
  @Idempotent()
  @described('addAgain', { contentType: 'text/csv' })
  add(@Res({ passthrough: true }) response: Response): string {
    response.cookie('a', 1).cookie('b', 2);
    return 'a,b\n';
  }

  @Post('busy')
  @Idempotent()
  busy(@Res({ passthrough: true }) response: Response): object {
    AgainController.calls += 1;
    if (AgainController.calls === 1) response.status(409);
    return { calls: AgainController.calls };
  }

  @Get()
  @Cached()
  @Header('Cache-Control', 'public, max-age=60')
  list(): JsonText {
    return new JsonText('{"a":1}');
  }
}

describe('what a module adds for every request', () => {
  it('a guard that refuses: 403 with the Error body, and no body is read', async () => {
    const service = await open({ modules: [globally(APP_GUARD, Refusing)] });
    const { status, text } = await responseOf(service, '/v1/pets', { method: 'POST', body: '{' });
    expect([status, text]).toEqual([403, '{"code":"forbidden","message":"Forbidden resource","status":403}']);
  });

  it('a pipe runs after the one of the service', async () => {
    const service = await open({ modules: [moduleOf(PlainController), globally(APP_PIPE, Lower)] });
    expect((await service.request('GET', '/v1/plain/both/SOLD?q=OLD')).text).toBe('{"a":"sold","q":"old"}');
    expect((await service.request('GET', '/v1/pets?status=SOLD')).status).toBe(400);
  });

  it.each([
    ['as it is', {}],
    ['that transforms', { transform: true, whitelist: true, forbidNonWhitelisted: true }],
    ['that converts', { transform: true, transformOptions: { enableImplicitConversion: true } }],
  ])('Nest’s ValidationPipe %s gets what is valid', async (_, options) => {
    @Module({ providers: [{ provide: APP_PIPE, useFactory: () => new ValidationPipe(options) }] })
    class ValidatedModule {}
    const service = await open({ modules: [moduleOf(FieldsController), ValidatedModule] });
    const result = await responseOf(service, '/v1/fields?sides=a,b&within=90d&id=9007199254740993&other=1');
    expect(result.text).toBe('{"sides":["a","b"],"within":7776000000,"id":9007199254740993}');
    const changed = await responseOf(service, '/v1/fields', { method: 'PATCH', body: '{"id":null}' });
    expect(changed.text).toBe('{"id":null}');
  });

  it.each([
    ['of Nest', BaseExceptionFilter],
    ['that writes the response of the exception', PassingFilter],
  ])('a filter %s leaves a refusal its headers', async (_, filter) => {
    const service = await open({ modules: [globally(APP_FILTER, filter)] });
    const unknown = await service.request('GET', '/v1/pets', { key: null });
    expect([unknown.body.code, unknown.headers.get('www-authenticate')]).toEqual([
      'missing_api_key',
      'Bearer realm="petstore"',
    ]);
    const wrong = await service.request('DELETE', '/v1/pets');
    expect([wrong.body.code, wrong.headers.get('allow')]).toEqual([
      'method_not_allowed',
      'GET, HEAD, OPTIONS, POST',
    ]);
  });

  it('an interceptor that changes responses, also from the cache', async () => {
    const service = await open({ modules: [globally(APP_INTERCEPTOR, Renaming)] });
    await service.seed(1);
    const isFromCache = async () => {
      expect((await responseOf(service, '/v1/pets?limit=1')).text).toMatch(/^\[\{"id":1,"name":"Renamed",/);
      const hits = { cache: 'responses', outcome: 'hit' };
      return (await service.metric('petstore_cache_lookups_total', hits)) > 0;
    };
    // On PostgreSQL nothing is cached without Redis.
    await expect.poll(isFromCache).toBe(!ON_POSTGRES);
    const created = await responseOf(service, '/v1/pets', {
      method: 'POST',
      body: '{"name":"Rex","categoryId":9007199254740993}',
    });
    expect(created.text).toMatch(/^\{"id":\d+,"name":"Renamed","categoryId":9007199254740993,/);
  });

  it('Nest’s ClassSerializerInterceptor changes no JsonText', async () => {
    const service = await open({ modules: [globally(APP_INTERCEPTOR, ClassSerializerInterceptor)] });
    const json = { name: 'Rex', categoryId: 9007199254740993n };
    const headers = { 'idempotency-key': 'k' };
    for (let sent = 0; sent < 2; sent += 1)
      expect((await service.request('POST', '/v1/pets', { json, headers })).text).toMatch(
        /^\{"id":1,"name":"Rex","categoryId":9007199254740993,/,
      );
    expect((await service.request('GET', '/v1/pets')).text).toMatch(/^\[\{"id":1,"name":"Rex",/);
  });
});

describe('a handler', () => {
  it('writes its response itself with @Res(), and reads a property of a body', async () => {
    const service = await open({ modules: [moduleOf(PlainController)] });
    const { status, text } = await responseOf(service, '/v1/plain/written');
    expect([status, text]).toEqual([203, '{"written":9007199254740993}']);
    expect((await service.request('POST', '/v1/plain/property', { json: { name: 'Rex' } })).text).toBe(
      '{"name":"Rex"}',
    );
  });

  it.each([
    ['object', 'Taken'],
    ['text', 'Taken'],
    ['nothing', 'Conflict'],
  ])('has what it returns with the status of an error sent as the Error body: %s', async (as, message) => {
    const service = await open({ modules: [moduleOf(PlainController)] });
    const { status, text } = await responseOf(service, `/v1/plain/refused/${as}`);
    expect([status, JSON.parse(text)]).toEqual([409, { code: 'conflict', message, status: 409 }]);
  });

  it.each([
    [410, 'gone', 'Gone or secret'],
    [502, 'bad_gateway', 'Bad Gateway'],
  ])('throws errors of Express and its middlewares, as in Nest: %s', async (status, code, message) => {
    const service = await open({ modules: [moduleOf(PlainController)] });
    const { text } = await responseOf(service, `/v1/plain/thrown/${status}`);
    expect(JSON.parse(text)).toEqual({ code, message, status });
  });

  it('that is idempotent is carried out again after it has returned the status of an error', async () => {
    const service = await open({ modules: [moduleOf(AgainController)] });
    AgainController.calls = 0;
    const statuses = [];
    for (let sent = 0; sent < 3; sent += 1)
      statuses.push(
        (await responseOf(service, '/v1/again/busy', { method: 'POST', headers: { 'idempotency-key': 'k' } }))
          .status,
      );
    expect([statuses, AgainController.calls]).toEqual([[409, 201, 201], 2]);
  });

  it('can be called by a test, or by a method that overrides it', () => {
    class OverridingController extends AgainController {
      override list = (): JsonText => super.list();
    }
    expect(new OverridingController().list().text).toBe('{"a":1}');
    AgainController.calls = 1;
    expect(new AgainController().busy({} as Response)).toEqual({ calls: 2 });
  });

  it('names its type by a function in @Header()', async () => {
    const service = await open({ modules: [moduleOf(PlainController)] });
    for (const [accept, expected] of [
      ['text/csv', 200],
      ['application/json', 406],
    ] as const)
      expect((await service.request('GET', '/v1/plain/named', { headers: { accept } })).status).toBe(
        expected,
      );
  });

  it.each([
    ['POST', '/v1/again', 'a,b\n', 'text/csv; charset=utf-8', null, ['a=1; Path=/', 'b=2; Path=/']],
    ['GET', '/v1/again', '{"a":1}', 'application/json; charset=utf-8', 'public, max-age=60', []],
  ])(
    'responds to a repeated %s of %s as to the first one, with the headers of its decorators',
    async (method, path, ...expected) => {
      const service = await open({ modules: [moduleOf(AgainController)] });
      for (let sent = 0; sent < 3; sent += 1) {
        const { text, headers } = await service.request(method, path, {
          headers: { 'idempotency-key': 'k' },
        });
        const own = [headers.get('content-type'), headers.get('cache-control'), headers.getSetCookie()];
        expect([text, ...own]).toEqual(expected);
      }
    },
  );

  it('returns an Observable, which is unsubscribed from when the client disconnects; nothing is logged', async () => {
    const service = await open({ modules: [moduleOf(PlainController)] });
    const logged = vi.spyOn(Logger.prototype, 'error');
    const client = new AbortController();
    const pending = fetch(`${service.url}/v1/plain/never`, { signal: client.signal }).catch(() => 'gone');
    await expect.poll(() => PlainController.subscribed).toBe(1);
    client.abort();
    expect(await pending).toBe('gone');
    await expect.poll(() => PlainController.subscribed).toBe(0);
    expect(logged).not.toHaveBeenCalled();
  });
});

@Controller({ path: 'shelves', version: '1' })
@RequireScopes()
class ShelvesController {
  @Get(':shelf')
  one(@Param('storeId', ParseIntPipe) store: number, @Param('shelf') shelf: string): object {
    return { store, shelf };
  }
}

@Module({ controllers: [ShelvesController] })
class ShelvesModule {}

@Module({
  imports: [
    ShelvesModule,
    RouterModule.register([
      { path: 'stores/:storeId', children: [{ path: 'halls', module: ShelvesModule }] },
    ]),
  ],
})
class StoresModule {}

it('a path of RouterModule with a parameter applies to its modules and appears in the document', async () => {
  const warned = vi.spyOn(Logger.prototype, 'warn');
  const service = await open({ modules: [StoresModule] });
  expect(warned).not.toHaveBeenCalled();
  expect((await service.request('GET', '/v1/stores/7/halls/shelves/a')).body).toEqual({
    store: 7,
    shelf: 'a',
  });
  expect((await service.request('GET', '/v1/stores/7/halls/shelves/a', { key: null })).status).toBe(401);
  expect((await service.request('GET', '/v1/stores/x/halls/shelves/a')).status).toBe(400);
  expect(Object.keys(service.document.paths)).toContain('/stores/{storeId}/halls/shelves/{shelf}');
});

describe('a context without an HTTP server', () => {
  it.each<[string, () => Promise<INestApplicationContext>]>([
    [
      'NestFactory.createApplicationContext()',
      () => NestFactory.createApplicationContext(AppModule, { logger: false }),
    ],
    [
      'TestingModule.init()',
      async () => (await Test.createTestingModule({ imports: [AppModule] }).compile()).init(),
    ],
  ])('has services and repositories, and closes: %s', async (_, create) => {
    const context = await create();
    const { id } = await context.get(ClientsService).create({ name: 'Script', plan: 'pro' }, SERVICE_ITSELF);
    const clients = context.get<Repository<Client>>(getRepositoryToken(Client), { strict: false });
    expect(await clients.countBy({ id })).toBe(1);
    await context.close();
    expect(context.get(DataSource).isInitialized).toBe(false);
  });
});

describe('an application on Nest’s own Express adapter', () => {
  it('responds as on the adapter of the service: int64, entity tags, repetitions, refusals', async () => {
    const { app, url } = await application({ adapter: new ExpressAdapter() });
    const authorization = `Bearer ${(await issueKey(app)).key}`;
    const request = (path: string, { headers = {}, ...init }: RequestOptions = {}) =>
      fetch(`${url}${path}`, { ...init, headers: { authorization, ...headers } });
    const add = () =>
      request('/v1/pets', {
        method: 'POST',
        body: '{"name":"Rex","categoryId":9007199254740993}',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      });
    const first = await add();
    const text = await first.text();
    expect([first.status, text]).toEqual([201, expect.stringContaining('"categoryId":9007199254740993')]);
    const again = await add();
    expect([await again.text(), again.headers.get('idempotent-replayed')]).toEqual([text, 'true']);
    const tag = (await request('/v1/pets')).headers.get('etag') ?? '';
    expect((await request('/v1/pets', { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect(
      (await request('/v1/pets', { method: 'POST', body: '{', headers: { authorization: '' } })).status,
    ).toBe(401);
    expect((await request('/V1/pets')).status).toBe(404);
    expect((await request('/docs')).status).toBe(200);
  });
});
