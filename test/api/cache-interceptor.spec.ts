import { CACHE_MANAGER, CacheInterceptor, CacheKey, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import {
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  type ModuleMetadata,
  Param,
  type Provider,
  Query,
  Req,
  Scope,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, REQUEST, Reflector } from '@nestjs/core';
import type { Cache } from 'cache-manager';
import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { CurrentCaller, callerOf } from '../../src/auth/caller.js';
import { Paged, PageQuery, type Pager } from '../../src/http/paging/pager.js';
import { application } from '../support/application.js';
import { openForAll } from '../support/opened.js';

/** As Nest's documentation writes one. */
@Injectable()
class HttpCacheInterceptor extends CacheInterceptor {
  override trackBy(context: ExecutionContext): string | undefined {
    const request = context.switchToHttp().getRequest<Request>();
    return `${callerOf(request)?.clientId}:${request.originalUrl}`;
  }
}

@Controller({ path: 'slow', version: '1' })
@UseInterceptors(CacheInterceptor)
@RequireScopes()
class SlowController {
  calls = 0;

  @Get()
  @CacheKey('slow')
  @CacheTTL(60_000)
  list(): object {
    return [{ calls: (this.calls += 1), id: 9_007_199_254_740_993n }];
  }

  @Get(':id')
  one(@Param('id') id: string, @Query('of') of: string): object {
    return { id, of, calls: (this.calls += 1) };
  }
}

@Controller({ path: 'mine', version: '1' })
@UseInterceptors(HttpCacheInterceptor)
@RequireScopes()
class MineController {
  calls = 0;

  @Get()
  mine(@CurrentCaller() client: string): object {
    return { client, calls: (this.calls += 1) };
  }
}

@Module({ imports: [CacheModule.register()], controllers: [SlowController, MineController] })
class SlowModule {}

describe('CacheInterceptor on a route', async () => {
  const service = await openForAll({ modules: [SlowModule] });
  const get = async (path: string, key = service.key) =>
    (await service.request('GET', `/v1/${path}`, { key })).text;

  it('stores the response by its URL', async () => {
    const first = await get('slow');
    expect(await get('slow')).toBe(first);
    expect(first).toContain('9007199254740993');
    const one = await get('slow/1?of=a');
    expect(await get('slow/1?of=a')).toBe(one);
    expect(await get('slow/1?of=b')).not.toBe(one);
  });

  it('is behind keys and quotas', async () => {
    await get('slow');
    const refused = await service.request('GET', '/v1/slow', { key: null });
    expect(refused.status).toBe(401);
    const response = await service.request('GET', '/v1/slow');
    expect(response.headers.has('x-ratelimit-remaining')).toBe(true);
  });

  it('gives no client the response of another, where trackBy() has its client', async () => {
    const { key } = await service.issueKey({ plan: 'free' });
    const [mine, others] = [await get('mine'), await get('mine', key)];
    expect([await get('mine'), await get('mine', key)]).toEqual([mine, others]);
    expect(others).not.toBe(mine);
  });
});

/** What the start says of a module with a cache. */
const refusalOf = async (metadata: ModuleMetadata, prepare?: (app: INestApplication) => unknown) => {
  @Module({ ...metadata, imports: [CacheModule.register()] })
  class CachingModule {}
  return application({ modules: [CachingModule], ...(prepare ? { prepare } : {}) }).then(
    () => 'started',
    (error: Error) => error.message,
  );
};

describe('CacheInterceptor for all requests stops the start', () => {
  it.each<[string, Provider[]]>([
    ['useClass', [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }]],
    ['a subclass', [{ provide: APP_INTERCEPTOR, useClass: HttpCacheInterceptor }]],
    ['useExisting', [CacheInterceptor, { provide: APP_INTERCEPTOR, useExisting: CacheInterceptor }]],
    [
      'useFactory',
      [
        {
          provide: APP_INTERCEPTOR,
          inject: [CACHE_MANAGER, Reflector],
          useFactory: (cache: Cache, reflector: Reflector) => new CacheInterceptor(cache, reflector),
        },
      ],
    ],
    ['each request', [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor, scope: Scope.REQUEST }]],
  ])('%s', async (_, providers) => {
    expect(await refusalOf({ providers })).toMatch(
      /^(Http)?CacheInterceptor for all requests would send a client the responses of other clients, and pages without/,
    );
  });

  it('useGlobalInterceptors()', async () => {
    const prepare = (app: INestApplication) => app.useGlobalInterceptors(app.get(CacheInterceptor));
    expect(await refusalOf({ providers: [CacheInterceptor] }, prepare)).toMatch(
      /^CacheInterceptor for all requests/,
    );
  });
});

describe('CacheInterceptor that depends only on the URL stops the start', () => {
  @Controller({ path: 'own', version: '1' })
  class ClientController {
    @Get()
    @UseInterceptors(CacheInterceptor)
    @RequireScopes()
    own(@CurrentCaller() client: string): object {
      return { client };
    }
  }

  @Controller({ path: 'own', version: '1' })
  @UseInterceptors(CacheInterceptor)
  @RequireScopes()
  class RequestController {
    @Get()
    own(@Req() request: Request): object {
      return { caller: request.caller };
    }
  }

  @Controller({ path: 'own', version: '1' })
  @UseInterceptors(CacheInterceptor)
  @RequireScopes()
  class ScopedController {
    constructor(@Inject(REQUEST) private readonly request: Request) {}

    @Get()
    own(): object {
      return { caller: this.request.caller };
    }
  }

  @Controller({ path: 'own', version: '1' })
  @UseInterceptors(CacheInterceptor)
  @RequireScopes()
  class PagesController {
    @Get()
    own(@Query() _: PageQuery, @Paged() pager: Pager): object {
      return pager;
    }
  }

  it.each<[string, Type]>([
    ['its client', ClientController],
    ['its request', RequestController],
    ['its request, injected', ScopedController],
    ['its page, whose Link would be lost', PagesController],
  ])('where a handler knows %s', async (_, controller) => {
    expect(await refusalOf({ controllers: [controller] })).toMatch(
      /^\w+\.own: CacheInterceptor uses only the URL as the key of its stored response, .* Override trackBy\(\)/,
    );
  });
});
