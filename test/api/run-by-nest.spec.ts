import {
  Body,
  Controller,
  Get,
  Header,
  HostParam,
  type INestApplication,
  Logger,
  Module,
  Next,
  Param,
  Post,
  Query,
  Redirect,
  SetMetadata,
  Sse,
  type Type,
  VERSION_NEUTRAL,
  Version,
  VersioningType,
} from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { NextFunction } from 'express';
import { Observable, of } from 'rxjs';
import { type MockInstance, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { CompiledOperation } from '../../src/http/adapter/compiled-operation.js';
import { Operation } from '../../src/http/operation.decorator.js';
import { type ApplicationOptions, application } from '../support/application.js';
import { byNest } from '../support/by-nest.js';
import { TestService } from '../kit/test-service.js';

/** Declares no member, so that every one is shown. */
class Anything {}

const declared = (id: string) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    answers: { status: 200, description: 'Whatever', type: Anything },
  });

let run: MockInstance<CompiledOperation['run']>;
let told: MockInstance<Logger['debug']>;
beforeEach(() => {
  run = vi.spyOn(CompiledOperation.prototype, 'run');
  told = vi.spyOn(Logger.prototype, 'debug');
});

/** Why an operation is run by Nest, as the log tells it; undefined for one that is compiled. */
function reasonOf(route: string): string | undefined {
  const reasons = told.mock.calls
    .map(([line]) => String(line))
    .filter((line) => line.startsWith(`${route} is`));
  expect(reasons.length).toBeLessThan(2);
  return /^.* is run by Nest: (.*)\.$/.exec(reasons[0] ?? '')?.[1];
}

async function ask(url: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const body = method === 'POST' ? '{"name":"Rex"}' : undefined;
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const { status } = response;
  return { status, text: await response.text(), ...headersOf(response) };
}

function headersOf({ headers }: Response) {
  return { location: headers.get('location'), allow: headers.get('allow'), own: headers.get('x-own') };
}

@Controller({ path: 'special', version: '1' })
@Public()
class SpecialController {
  @Get('header')
  @Header('X-Own', 'yes')
  @declared('header')
  header(): object {
    return {};
  }

  @Get('redirect')
  @Redirect('/elsewhere', 307)
  @declared('redirect')
  redirect(): void {}

  @Get('events')
  @Sse()
  @declared('events')
  events(): Observable<{ data: object }> {
    return of({ data: { n: 1 } });
  }

  @Get('next')
  @declared('next')
  next(@Next() next: NextFunction): void {
    next();
  }

  @Post('property')
  @declared('property')
  property(@Body('name') name: string): object {
    return { name };
  }

  @Get('marked')
  @SetMetadata('a:key-of-somebody', true)
  @declared('marked')
  marked(): object {
    return {};
  }

  @Get('sse-of-later')
  @SetMetadata('__sseOptions__', {})
  @declared('sseOfLater')
  sseOfLater(): object {
    return {};
  }

  @Get()
  undeclared(): object {
    return {};
  }
}

@Controller({ path: 'hosted', version: '1', host: '127.0.0.:last' })
@Public()
class HostedController {
  @Get()
  @declared('hosted')
  get(@HostParam('last') last: string): object {
    return { last };
  }
}

@Module({ controllers: [SpecialController, HostedController] })
class SpecialModule {}

describe('an operation that asks for more than a plan knows', () => {
  it.each([
    ['GET', '/v1/special/header', 'it has __headers__'],
    ['GET', '/v1/special/redirect', 'it has __redirect__'],
    ['GET', '/v1/special/events', 'it has __sse__'],
    ['GET', '/v1/special/next', 'a parameter is of a kind that only Nest provides'],
    ['POST', '/v1/special/property', 'a parameter is of a kind that only Nest provides'],
    ['GET', '/v1/special/sse-of-later', 'it has __sseOptions__'],
    ['GET', '/v1/special', 'it is not declared by @Operation()'],
    ['GET', '/v1/hosted', 'it has host'],
    ['GET', '/v1/special/marked', undefined],
  ])('%s %s is run by Nest, and the log tells why: %s', async (method, path, reason) => {
    const { url: own } = await byNest(() => application({ modules: [SpecialModule] }));
    told.mockClear();
    const { url } = await application({ modules: [SpecialModule] });
    expect(reasonOf(`${method} ${path}`)).toBe(reason);
    const headers = { accept: path.endsWith('events') ? 'text/event-stream' : '*/*' };
    expect(await ask(url, path, headers, method)).toEqual(await ask(own, path, headers, method));
    expect(run.mock.calls.length).toBe(reason === undefined ? 1 : 0);
  });
});

/** Two controllers of one name, as two features may have. */
function namesakes(): Type[] {
  const make = (path: string): Type => {
    @Controller({ path, version: '1' })
    @Public()
    class ToysController {
      @Get(':id')
      @declared(path)
      get(@Param('id') id: string): object {
        return { path, id };
      }
    }
    return ToysController;
  };
  return [make('cars'), make('dolls')];
}

class ListingController {
  @Get()
  @declared('listing')
  list(): object {
    return { of: this.constructor.name };
  }
}

@Controller({ path: 'balls', version: '1' })
@Public()
class BallsController extends ListingController {}

@Controller({ path: 'kites', version: '1' })
@Public()
class KitesController extends ListingController {}

@Controller({ path: 'versions', version: ['1', '2', VERSION_NEUTRAL] })
@Public()
class VersionsController {
  @Get()
  @declared('versions')
  get(): object {
    return { version: 'any' };
  }

  @Get('of')
  @Version('3')
  @declared('third')
  third(): object {
    return { version: 3 };
  }
}

@Controller({ path: 'elsewhere', version: '1', host: 'elsewhere.example' })
class ElsewhereController {
  @Get()
  @declared('elsewhere')
  get(): object {
    return {};
  }
}

/** Two routes that may have the same path. */
@Controller({ path: 'overlapping', version: '1' })
@Public()
class OverlappingController {
  @Get(':id')
  @declared('any')
  any(@Param('id') id: string, @Query('q') q?: string): object {
    return { id, q };
  }

  @Get('one')
  @declared('one')
  one(): object {
    return { one: true };
  }
}

function moduleOf(...controllers: Type[]): Type {
  @Module({ controllers })
  class ControllersModule {}
  return ControllersModule;
}

/** What both ways answer to these requests, which must be the same. */
async function answers(
  make: () => ApplicationOptions,
  requests: readonly [path: string, headers?: Record<string, string>][],
): Promise<string[]> {
  const own = await byNest(() => application(make()));
  told.mockClear();
  const { url } = await application(make());
  const seen = [];
  for (const [path, headers] of requests) {
    const answer = await ask(url, path, headers);
    expect(answer).toEqual(await ask(own.url, path, headers));
    seen.push(`${answer.status} ${answer.text}`);
  }
  return seen;
}

describe('whatever Nest lets controllers be', () => {
  it('two of one name are told apart', async () => {
    const seen = await answers(
      () => ({ modules: [moduleOf(...namesakes())] }),
      [['/v1/cars/1'], ['/v1/dolls/2']],
    );
    expect(seen).toEqual(['200 {"path":"cars","id":"1"}', '200 {"path":"dolls","id":"2"}']);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('one that inherits its handler is compiled, and several are run by Nest', async () => {
    const balls: [string][] = [['/v1/balls']];
    expect(await answers(() => ({ modules: [moduleOf(BallsController)] }), balls)).toEqual([
      '200 {"of":"BallsController"}',
    ]);
    expect(run).toHaveBeenCalledOnce();
    run.mockClear();
    const both = () => ({ modules: [moduleOf(BallsController, KitesController)] });
    expect(await answers(both, [...balls, ['/v1/kites']])).toEqual([
      '200 {"of":"BallsController"}',
      '200 {"of":"KitesController"}',
    ]);
    expect(run).not.toHaveBeenCalled();
    expect(reasonOf('GET /v1/kites')).toBe('several controllers have its handler');
  });

  it('one whose class is wrapped by a decorator is run by Nest', async () => {
    const wrapped = (target: Type): Type => new Proxy(target, {});
    @Controller({ path: 'wrapped', version: '1' })
    @wrapped
    class WrappedController {
      @Get(':id')
      @Public()
      @declared('wrapped')
      get(@Param('id') id: string): object {
        return { id };
      }
    }
    const seen = await answers(() => ({ modules: [moduleOf(WrappedController)] }), [['/v1/wrapped/1']]);
    expect(seen).toEqual(['200 {"id":"1"}']);
    expect(run).not.toHaveBeenCalled();
    expect(reasonOf('GET /v1/wrapped/:id')).toBe('its controller is no plain instance of its class');
  });

  it('one of several versions is compiled for each path', async () => {
    const seen = await answers(
      () => ({ modules: [moduleOf(VersionsController)] }),
      [['/v1/versions'], ['/v2/versions'], ['/versions'], ['/v3/versions/of']],
    );
    expect(seen).toEqual([...Array<string>(3).fill('200 {"version":"any"}'), '200 {"version":3}']);
    expect(run).toHaveBeenCalledTimes(4);
  });

  it('one whose version a header tells is run by Nest, and another version is none', async () => {
    const prepare = (app: INestApplication) =>
      app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' });
    @Controller({ path: 'v1/third', version: '3' })
    @Public()
    class ThirdController {
      @Get()
      @declared('byHeader')
      get(): object {
        return { version: 3 };
      }
    }
    const version = (name: string) => ({ 'x-version': name });
    const seen = await answers(
      () => ({ modules: [moduleOf(ThirdController)], prepare }),
      [['/v1/third', version('3')], ['/v1/third', version('4')], ['/v1/third']],
    );
    expect(seen[0]).toBe('200 {"version":3}');
    // What no route takes needs a key, as everywhere below /v1.
    expect(seen[1]).toMatch(/^401 /);
    expect(run).not.toHaveBeenCalled();
    expect(reasonOf('GET /v1/third')).toBe('its version is not told by the path');
  });

  it.each([
    ['registered in another order', { routeResolutionStrategy: 'specificity' }, '{"one":true}'],
    [
      'looked through for conflicts',
      { routeConflictPolicy: { duplicate: 'error', shadow: 'warn' } },
      '{"id":"one"}',
    ],
  ] as const)('routes may be %s', async (_, nest, text) => {
    const seen = await answers(
      () => ({ modules: [moduleOf(OverlappingController)], nest }),
      [['/v1/overlapping/one'], ['/v1/overlapping/two?q=1']],
    );
    expect(seen).toEqual([`200 ${text}`, '200 {"id":"two","q":"1"}']);
    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe('a path whose route leaves a request to others', () => {
  it('is told to be none, and not that it has no such method', async () => {
    const service = await TestService.open({ modules: [moduleOf(ElsewhereController)] });
    onTestFinished(() => service.close());
    const authorization = `Bearer ${service.key}`;
    expect((await ask(service.url, '/v1/elsewhere', { authorization })).status).toBe(404);
    const other = await ask(service.url, '/v1/elsewhere', { authorization }, 'POST');
    expect([other.status, other.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

describe('an application on Nest’s plain adapter', () => {
  it('has every operation run by Nest, with bodies behind the guards', async () => {
    const { url } = await application({
      modules: [moduleOf(SpecialController)],
      adapter: new ExpressAdapter(),
    });
    expect((await ask(url, '/v1/special/property', {}, 'POST')).text).toBe('{"name":"Rex"}');
    expect((await ask(url, '/v1/pets', {}, 'POST')).status).toBe(401);
    expect((await ask(url, '/V1/pets')).status).toBe(404);
    expect((await ask(url, '/docs')).status).toBe(200);
    expect(run).not.toHaveBeenCalled();
  });
});

describe('an Observable that an operation answers', () => {
  it.each([
    ['compiled', <T>(make: () => Promise<T>) => make()],
    ['run by Nest', byNest],
  ])('is given up when its client is gone, and nothing is logged: %s', async (_, made) => {
    let subscribed = 0;
    @Controller({ path: 'never', version: '1' })
    @Public()
    class NeverController {
      @Get()
      @declared('never')
      never(): Observable<object> {
        return new Observable(() => {
          subscribed += 1;
          return () => (subscribed -= 1);
        });
      }
    }
    const logged = vi.spyOn(Logger.prototype, 'error');
    onTestFinished(() => logged.mockRestore());
    const { url } = await made(() => application({ modules: [moduleOf(NeverController)] }));
    const gone = new AbortController();
    const asked = fetch(`${url}/v1/never`, { signal: gone.signal }).catch(() => 'gone');
    await expect.poll(() => subscribed).toBe(1);
    gone.abort();
    expect(await asked).toBe('gone');
    await expect.poll(() => subscribed).toBe(0);
    // What would be logged would be by now.
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged).not.toHaveBeenCalled();
  });
});
