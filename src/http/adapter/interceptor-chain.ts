import type { ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Observable, ReplaySubject, defer, from, lastValueFrom, mergeAll, takeUntil } from 'rxjs';
import { AsyncInterceptor, inAsyncContext } from '../async.interceptor.js';

/** One run of a part of the chain, for one request. An interceptor that calls `handle()` twice makes two runs of the rest. */
export interface ChainRun<Context extends ExecutionContext> {
  readonly context: Context;
  /** Emits when nobody wants the answer any more; also to who subscribes afterwards. */
  readonly unwanted: Observable<void>;
}

/**
 * The rest of a chain, from one interceptor to the handler. It can be run in two ways: awaited, which costs little, or as an
 * Observable of all values, which is what an ordinary interceptor is given.
 */
export interface Chain<Context extends ExecutionContext> {
  readonly answer: (run: ChainRun<Context>) => Promise<unknown>;
  /** Subscribed to once. What it runs sees the async context of this call. */
  readonly values: (context: Context) => Observable<unknown>;
}

/** Whether an interceptor may be awaited, without rxjs. One that overrides what Nest calls may do something else there. */
function isAwaitable(interceptor: NestInterceptor): interceptor is AsyncInterceptor {
  return (
    interceptor instanceof AsyncInterceptor && interceptor.intercept === AsyncInterceptor.prototype.intercept
  );
}

/** Whether an interceptor does anything for requests of a handler; an ordinary one may. */
export function concerns(interceptor: NestInterceptor, handler: object): boolean {
  return !isAwaitable(interceptor) || interceptor.concerns(handler);
}

/**
 * Puts interceptors around a handler, the first one outermost. Those that extend AsyncInterceptor are awaited down to the first
 * ordinary one; from there to the handler the chain is one of Observables, as Nest's is.
 */
export function chained<Context extends ExecutionContext>(
  interceptors: readonly NestInterceptor[],
  handler: Chain<Context>,
): Chain<Context> {
  return interceptors.reduceRight(
    (rest, interceptor) =>
      isAwaitable(interceptor) ? aroundAwaited(interceptor, rest) : aroundValues(interceptor, rest),
    handler,
  );
}

function aroundAwaited<Context extends ExecutionContext>(
  interceptor: AsyncInterceptor,
  rest: Chain<Context>,
): Chain<Context> {
  return {
    answer: (run) => interceptor.around(run.context, () => rest.answer(run)),
    values: (context) => {
      const around = inAsyncContext((next: () => Promise<unknown>) => interceptor.around(context, next));
      return new Observable((subscriber) => {
        const unwanted = new ReplaySubject<void>(1);
        from(around(() => rest.answer({ context, unwanted }))).subscribe(subscriber);
        // An interceptor before it may unsubscribe, as `timeout()` does: then what the handler answers must end, too.
        return () => unwanted.next();
      });
    },
  };
}

/** The same calls as in InterceptorsConsumer of Nest, which is not public. */
function aroundValues<Context extends ExecutionContext>(
  interceptor: NestInterceptor,
  rest: Chain<Context>,
): Chain<Context> {
  const intercepted = async (context: Context): Promise<Observable<unknown>> => {
    const handle = (): Observable<unknown> => defer(inAsyncContext(() => rest.values(context)));
    // Nest accepts whatever rxjs can make an Observable of, such as a promise of one from another copy of rxjs.
    return from((await interceptor.intercept(context, { handle })) as Observable<unknown>);
  };
  return {
    answer: async ({ context, unwanted }) =>
      lastValueFrom((await intercepted(context)).pipe(takeUntil(unwanted))),
    values: (context) => from(intercepted(context)).pipe(mergeAll()),
  };
}
