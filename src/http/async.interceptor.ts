import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { Observable, Subject, from, lastValueFrom, takeUntil } from 'rxjs';

/**
 * An interceptor of one answer, written with promises. Nest runs it like any other; a compiled operation calls `around`
 * directly, without rxjs. It does not run for server-sent events, which are many answers.
 */
export abstract class AsyncInterceptor implements NestInterceptor {
  /**
   * Whether it does anything for the requests of a handler, told once from what is declared of it. Where it does not, `around`
   * must only call `next`: compiled operations leave the interceptor out.
   */
  concerns(handler: object): boolean {
    void handler;
    return true;
  }

  /** What the operation answers; `next` runs the interceptors behind this one, and then the handler. */
  abstract around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown>;

  /** Nest's form of it. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (Reflect.hasMetadata(SSE_METADATA, context.getHandler())) return next.handle() as Observable<unknown>;
    return new Observable((subscriber) => {
      const unwanted = new Subject<void>();
      from(this.around(context, () => lastValueFrom(next.handle().pipe(takeUntil(unwanted))))).subscribe(
        subscriber,
      );
      // When the client is gone, so must be what the handler still listens to.
      return () => unwanted.next();
    });
  }
}
