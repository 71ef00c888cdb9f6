import { AsyncLocalStorage } from 'node:async_hooks';
import { Readable } from 'node:stream';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type INestApplication,
  Logger,
  Module,
  type NestInterceptor,
  Query,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { isRejectedByPipes } from '@nestjs/core/router/rejected-by-pipes.js';
import { SkipThrottle } from '@nestjs/throttler';
import type { Request } from 'express';
import fc from 'fast-check';
import {
  EMPTY,
  NEVER,
  Observable,
  catchError,
  concat,
  from,
  lastValueFrom,
  map,
  merge,
  of,
  race,
  retry,
  startWith,
  switchMap,
  take,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { type MockInstance, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { HTTP_ERRORS } from '../../src/core/errors/http.errors.js';
import { CompiledOperation } from '../../src/http/adapter/compiled-operation.js';
import { AsyncInterceptor } from '../../src/http/async.interceptor.js';
import { Integer } from '../../src/http/validation/fields.js';
import { Operation } from '../../src/http/operation.decorator.js';
import { application } from '../support/application.js';
import { byNest } from '../support/by-nest.js';

/** Declares no member, so that every one is shown. */
class Anything {}

const declared = (id: string) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    answers: { status: 200, description: 'Whatever', type: Anything },
  });

/** What interceptors and handlers have done for the request that is under way, in order. */
let trace: string[] = [];
const store = new AsyncLocalStorage<string>();
const laterTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

class Filter {
  @Integer({ minimum: 1, maximum: 9, optional: true })
  size?: number;
}

const HANDLERS = {
  value: () => ({ n: 1, store: store.getStore() }),
  promise: async () => {
    await laterTurn();
    return { n: 1, store: store.getStore() };
  },
  none: () => undefined,
  values: () => of({ n: 1 }, { n: 2 }, { n: 3 }),
  empty: () => EMPTY,
  'values, later': async () => {
    await laterTurn();
    return from([1, 2]).pipe(switchMap(async (n) => ({ n: await Promise.resolve(n) })));
  },
  refused: () => {
    throw new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'of the test' } });
  },
  'values, then refused': () =>
    concat(
      of({ n: 1 }),
      throwError(() => new ApiError(HTTP_ERRORS.malformed_request, { params: { reason: 'of the test' } })),
    ),
  stream: () => Readable.from(['a', 'b']),
} satisfies Record<string, () => unknown>;

@Controller({ path: 'handlers', version: '1' })
@SkipThrottle()
@Public()
class HandlersController {
  @Get()
  @declared('handlers')
  get(@Query() _filter: Filter, @Query('handler') handler: keyof typeof HANDLERS): unknown {
    trace.push('handler');
    return HANDLERS[handler]();
  }
}

type Intercept = (next: CallHandler<unknown>, context: ExecutionContext) => unknown;

/** What ordinary interceptors do, rightly or wrongly. */
const WAYS: Readonly<Record<string, Intercept>> = {
  passes: (next) => next.handle(),
  'is a promise': async (next) => {
    await laterTurn();
    return next.handle();
  },
  wraps: (next) => next.handle().pipe(map((data) => ({ data }))),
  'looks on': (next, context) =>
    next.handle().pipe(
      tap({
        next: (value) => trace.push(`next ${typeof value}`),
        error: (error: Error) => trace.push(`error ${error.message}`),
        complete: () =>
          trace.push(`complete, rejected by pipes: ${String(isRejectedByPipes(requestOf(context)))}`),
        subscribe: () => trace.push('subscribe'),
        unsubscribe: () => trace.push('unsubscribe'),
        finalize: () =>
          trace.push(`finalize, rejected by pipes: ${String(isRejectedByPipes(requestOf(context)))}`),
      }),
    ),
  'handles twice': (next) => concat(next.handle(), next.handle()).pipe(toArray()),
  'handles twice at once': (next) => merge(next.handle(), next.handle()).pipe(toArray()),
  'tries again': (next) => next.handle().pipe(retry(1)),
  'asks without subscribing': (next) => {
    next.handle();
    return of('instead');
  },
  'answers instead': () => of({ instead: true }),
  'answers nothing': () => EMPTY,
  throws: () => {
    throw new Error('a secret');
  },
  rejects: () => Promise.reject(new ApiError(HTTP_ERRORS.not_acceptable)),
  'fails afterwards': (next) =>
    next.handle().pipe(switchMap(() => throwError(() => new ApiError(HTTP_ERRORS.not_acceptable)))),
  'returns nothing': () => undefined,
  'returns an array': () => [{ n: 7 }, { n: 8 }],
  'returns a promise of a value': () => Promise.resolve({ n: 7 }),
  'takes the first': (next) => next.handle().pipe(take(1)),
  'collects all': (next) => next.handle().pipe(toArray()),
  'puts one before': (next) => next.handle().pipe(startWith({ n: 0 })),
  catches: (next) => next.handle().pipe(catchError((error: Error) => of({ caught: error.message }))),
  awaits: async (next) => of(await lastValueFrom(next.handle(), { defaultValue: 'nothing' })),
  'is faster': (next) => race(of({ faster: true }), next.handle()),
  'handles later': (next) => from(laterTurn()).pipe(switchMap(() => next.handle())),
  'has a store': (next) => store.run('at handle()', () => next.handle()),
  'has a store for who subscribes': (next) =>
    new Observable((subscriber) => store.run('at subscribe()', () => next.handle().subscribe(subscriber))),
  'has a store too late': (next) => {
    const handled = next.handle();
    return new Observable((subscriber) => store.run('too late', () => handled.subscribe(subscriber)));
  },
};

function requestOf(context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}

/** An interceptor that does what a query parameter names. */
function choosing(parameter: string): Type<NestInterceptor> {
  @Injectable()
  class ChoosingInterceptor implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
      const named = requestOf(context).query[parameter];
      const way = WAYS[typeof named === 'string' ? named : 'passes'];
      trace.push(`${parameter} of ${context.getClass().name}.${context.getHandler().name}`);
      return way?.(next, context) as Observable<unknown>;
    }
  }
  return ChoosingInterceptor;
}

@Injectable()
class Awaiting extends AsyncInterceptor {
  async around(_: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    trace.push('awaiting');
    try {
      return await next();
    } finally {
      trace.push('awaited');
    }
  }
}

/** A module with these interceptors, the first one outermost. */
function intercepting(...interceptors: readonly Type[]): Type {
  @Module({
    controllers: [HandlersController],
    providers: interceptors.map((useClass) => ({ provide: APP_INTERCEPTOR, useClass })),
  })
  class InterceptingModule {}
  return InterceptingModule;
}

let run: MockInstance<CompiledOperation['run']>;
beforeEach(() => {
  run = vi.spyOn(CompiledOperation.prototype, 'run');
});

/** The same application twice: its operations compiled, and run by Nest. */
async function bothWays(module: Type, prepare?: (app: INestApplication) => unknown) {
  const options = { modules: [module], ...(prepare ? { prepare } : {}) };
  const { url: nests } = await byNest(() => application(options));
  const { url: compiled } = await application(options);
  return { compiled, nests };
}

/** What a client and the interceptors see of one request. */
async function seen(url: string, query: Record<string, string>): Promise<object> {
  trace = [];
  const response = await fetch(`${url}/v1/handlers?${String(new URLSearchParams(query))}`);
  const { status, headers } = response;
  expect(status).not.toBe(429);
  const text = await response.text();
  // What an interceptor has left running ends by now.
  await laterTurn();
  return { status, type: headers.get('content-type'), text, trace };
}

const ARRANGEMENTS = [
  ['alone', [choosing('first')]],
  ['before another', [choosing('first'), choosing('second')]],
  ['around an AsyncInterceptor', [choosing('first'), Awaiting, choosing('second')]],
  ['within an AsyncInterceptor', [Awaiting, choosing('first'), choosing('second')]],
] as const;

describe.each(ARRANGEMENTS)('an ordinary interceptor %s', (_, interceptors) => {
  it('is run by a compiled operation as by Nest, whatever it does and the handler answers', async () => {
    const { compiled, nests } = await bothWays(intercepting(...interceptors));
    for (const first of Object.keys(WAYS))
      for (const handler of Object.keys(HANDLERS)) {
        const query = { first, handler };
        expect(await seen(compiled, query), JSON.stringify(query)).toEqual(await seen(nests, query));
      }
    expect(run).toHaveBeenCalledTimes(Object.keys(WAYS).length * Object.keys(HANDLERS).length);
  });
});

const way = fc.constantFrom(...Object.keys(WAYS));

describe('two ordinary interceptors', () => {
  it.each(ARRANGEMENTS.slice(1))('%s do the same as in Nest', async (_, interceptors) => {
    const { compiled, nests } = await bothWays(intercepting(...interceptors));
    const handler = fc.constantFrom(...Object.keys(HANDLERS));
    const queries = fc.record({ first: way, second: way, handler, size: fc.constantFrom('1', '10') });
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        expect(await seen(compiled, query)).toEqual(await seen(nests, query));
      }),
      { numRuns: 200 },
    );
  });
});

describe('an ordinary interceptor', () => {
  it('sees values one by one, and the handler run anew for each subscription', async () => {
    const { compiled } = await bothWays(intercepting(choosing('first'), choosing('second')));
    const counted = await seen(compiled, { first: 'collects all', second: 'looks on', handler: 'values' });
    expect(counted).toMatchObject({ status: 200, text: '[{"n":1},{"n":2},{"n":3}]' });
    await seen(compiled, { first: 'tries again', handler: 'refused' });
    expect(trace.filter((step) => step === 'handler')).toHaveLength(2);
  });

  it('is told that pipes have refused the values', async () => {
    const { compiled } = await bothWays(intercepting(choosing('first')));
    await seen(compiled, { first: 'looks on', handler: 'value', size: '10' });
    expect(trace).toContain('finalize, rejected by pipes: true');
    expect(trace).not.toContain('handler');
  });

  it('of useGlobalInterceptors() is run by compiled operations, behind the platform’s', async () => {
    const wrapping: NestInterceptor = {
      intercept: (_context, next) => next.handle().pipe(map((data: unknown) => ({ data }))),
    };
    const { compiled, nests } = await bothWays(intercepting(), (app) => app.useGlobalInterceptors(wrapping));
    const answer = await seen(compiled, { handler: 'value' });
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"data"') as string });
    expect(answer).toEqual(await seen(nests, { handler: 'value' }));
    expect(run).toHaveBeenCalledOnce();
  });
});

describe.each([
  ['compiled', <T>(make: () => Promise<T>) => make()],
  ['run by Nest', byNest],
])('when the client disconnects, an ordinary interceptor of an operation that is %s', (_, made) => {
  /** Counts what is subscribed in the interceptor and in the handler, while a request waits for an answer. */
  async function abandoned(handler: () => unknown, intercept: Intercept) {
    let [begun, waiting] = [0, 0];
    const counted = (values: Observable<unknown>): Observable<unknown> =>
      new Observable((subscriber) => {
        begun += 1;
        waiting += 1;
        const subscription = values.subscribe(subscriber);
        subscription.add(() => (waiting -= 1));
        return subscription;
      });
    @Controller({ path: 'waiting', version: '1' })
    @Public()
    class WaitingController {
      @Get()
      @declared('waiting')
      get(): unknown {
        const answer = handler();
        return answer instanceof Observable ? counted(answer) : answer;
      }
    }
    @Injectable()
    class CountingInterceptor implements NestInterceptor {
      intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
        return counted(intercept(next, context) as Observable<unknown>);
      }
    }
    @Module({
      controllers: [WaitingController],
      providers: [
        { provide: APP_INTERCEPTOR, useClass: CountingInterceptor },
        { provide: APP_INTERCEPTOR, useClass: Awaiting },
      ],
    })
    class WaitingModule {}
    const logged = vi.spyOn(Logger.prototype, 'error');
    onTestFinished(() => logged.mockRestore());
    const { url } = await made(() => application({ modules: [WaitingModule] }));
    const gone = new AbortController();
    const asked = fetch(`${url}/v1/waiting`, { signal: gone.signal }).catch(() => 'gone');
    return {
      logged,
      leave: async () => {
        gone.abort();
        expect(await asked).toBe('gone');
      },
      counts: () => ({ begun, waiting }),
    };
  }

  it('is unsubscribed from with the Observable of the handler, and nothing is logged', async () => {
    const { leave, counts, logged } = await abandoned(
      () => NEVER,
      (next) => next.handle(),
    );
    await expect.poll(counts).toEqual({ begun: 2, waiting: 2 });
    await leave();
    await expect.poll(counts).toEqual({ begun: 2, waiting: 0 });
    await laterTurn();
    expect(logged).not.toHaveBeenCalled();
  });

  it('goes on with what it does after a handler that has answered a value', async () => {
    let ended = false;
    let finish = (): void => undefined;
    const more = new Promise<void>((resolve) => (finish = resolve));
    const { leave, counts } = await abandoned(
      () => ({}),
      (next) =>
        next.handle().pipe(
          switchMap(() => from(more)),
          tap({ complete: () => (ended = true) }),
        ),
    );
    await expect.poll(counts).toEqual({ begun: 1, waiting: 1 });
    await leave();
    await laterTurn();
    expect(counts()).toEqual({ begun: 1, waiting: 1 });
    finish();
    await expect.poll(() => ended).toBe(true);
  });
});
