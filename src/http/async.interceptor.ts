import { AsyncResource } from 'node:async_hooks';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { Observable, Subject, from, lastValueFrom, takeUntil } from 'rxjs';

/**
 * Base class of an interceptor that is written with promises. Nest runs it like any other; a compiled operation calls `around`
 * directly, without rxjs. It is skipped for server-sent events, because a promise stands for a single answer, and for messages of
 * WebSockets, which are no requests of HTTP.
 */
export abstract class AsyncInterceptor implements NestInterceptor {
  /**
   * Whether the interceptor does anything for requests of this handler. It is asked once for each handler, so the result must
   * depend only on what is declared. If false, `around` must do nothing but call `next`, because compiled operations leave the
   * interceptor out.
   */
  concerns(handler: object): boolean {
    void handler;
    return true;
  }

  /** Returns the answer of the operation. `next` runs the interceptors after this one, and then the handler. */
  abstract around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown>;

  /** The method that Nest calls; it runs `around`. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const isOneAnswer =
      context.getType() === 'http' && !Reflect.hasMetadata(SSE_METADATA, context.getHandler());
    if (!isOneAnswer) return next.handle() as Observable<unknown>;
    const around = inAsyncContext((rest: () => Promise<unknown>) => this.around(context, rest));
    return new Observable((subscriber) => {
      const unwanted = new Subject<void>();
      const rest = () => lastValueFrom(next.handle().pipe(takeUntil(unwanted)));
      from(around(rest)).subscribe(subscriber);
      // Nest unsubscribes when the client has disconnected. Then the subscription to the handler's Observable has to end, too.
      return () => unwanted.next();
    });
  }
}

/**
 * Binds a function to the async context of this call. What an Observable does when it is subscribed to then sees the stores of
 * the place where it was made, such as those in which an interceptor has called `handle()`.
 */
export function inAsyncContext<Args extends unknown[], T>(call: (...args: Args) => T): (...args: Args) => T {
  const resource = new AsyncResource('Interceptor');
  return (...args) => resource.runInAsyncScope(call, undefined, ...args);
}
