import { type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { NEVER, of } from 'rxjs';
import { HandlerMetadata } from '../handler-metadata.js';
import { type Chain, chained, concerns } from '../http/adapter/interceptor-chain.js';

/**
 * Runs interceptors for answers from the cache: global ones between the cache and the handler that are marked by
 * `@ChangesNoAnswer()`. They see the cached body in place of what the handler would answer; what they make of it is ignored.
 */
@Injectable()
export class InterceptorsOfCached {
  private readonly ofHandler = new HandlerMetadata(([handler]) => {
    const concerned = this.interceptors().filter((interceptor) => concerns(interceptor, handler));
    return concerned.length === 0 ? undefined : concerned;
  });

  private interceptors = (): readonly NestInterceptor[] => [];

  /** Whether a global interceptor may change answers: one of an added module that is not marked. */
  mayChangeAnswers = (): boolean => false;

  /** Says which they are, the outermost first, and whether there are others. Asked when requests come. */
  are(interceptors: () => readonly NestInterceptor[], mayChangeAnswers: () => boolean): void {
    this.interceptors = interceptors;
    this.mayChangeAnswers = mayChangeAnswers;
  }

  /**
   * Runs them for a request whose answer is in the cache; undefined if there are none. It resolves when all have run, and rejects
   * with what one throws.
   */
  of(context: ExecutionContext): ((body: unknown) => Promise<unknown>) | undefined {
    const interceptors = this.ofHandler.of(context);
    if (!interceptors) return undefined;
    return (body) => {
      const cached: Chain<ExecutionContext> = { answer: () => Promise.resolve(body), values: () => of(body) };
      return chained(interceptors, cached).answer({ context, unwanted: NEVER });
    };
  }
}
