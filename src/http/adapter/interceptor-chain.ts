import type { NestInterceptor } from '@nestjs/common';
import { Observable, ReplaySubject, defer, from, lastValueFrom, mergeAll, takeUntil } from 'rxjs';
import { AsyncInterceptor, inAsyncContext } from '../async.interceptor.js';
import type { OperationContext } from './operation-context.js';

/** One run of a part of the chain, for one request. An interceptor that calls `handle()` twice makes two runs of the rest. */
export interface ChainRun {
  readonly context: OperationContext;
  /** Emits when nobody wants the answer any more; also to who subscribes afterwards. */
  readonly unwanted: Observable<void>;
}

/**
 * The rest of a chain, from one interceptor to the handler. It can be run in two ways: awaited, which costs little, or as an
 * Observable of all values, which is what an ordinary interceptor is given.
 */
export interface Chain {
  readonly answer: (run: ChainRun) => Promise<unknown>;
  /** Subscribed to once. What it runs sees the async context of this call. */
  readonly values: (context: OperationContext) => Observable<unknown>;
}

/** Whether an interceptor may be awaited, without rxjs. One that overrides what Nest calls may do something else there. */
export function isAwaitable(interceptor: NestInterceptor): interceptor is AsyncInterceptor {
  return (
    interceptor instanceof AsyncInterceptor && interceptor.intercept === AsyncInterceptor.prototype.intercept
  );
}

/**
 * Puts interceptors around a handler, the first one outermost. Those that extend AsyncInterceptor are awaited down to the first
 * ordinary one; from there to the handler the chain is one of Observables, as Nest's is.
 */
export function chained(interceptors: readonly NestInterceptor[], handler: Chain): Chain {
  return interceptors.reduceRight<Chain>(
    (rest, interceptor) =>
      isAwaitable(interceptor) ? aroundAwaited(interceptor, rest) : aroundValues(interceptor, rest),
    handler,
  );
}

function aroundAwaited(interceptor: AsyncInterceptor, rest: Chain): Chain {
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
function aroundValues(interceptor: NestInterceptor, rest: Chain): Chain {
  const intercepted = async (context: OperationContext): Promise<Observable<unknown>> => {
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
