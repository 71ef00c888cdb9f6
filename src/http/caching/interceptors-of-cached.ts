import { type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { NEVER, of } from 'rxjs';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { type Chain, chained, concerns } from '../adapter/interceptor-chain.js';

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

  /** Global interceptors that may change answers: those of added modules that are not marked. */
  changingAnswers = (): readonly object[] => [];

  /** Says which they are, the outermost first, and which others there are. Asked when requests come. */
  are(interceptors: () => readonly NestInterceptor[], changingAnswers: () => readonly object[]): void {
    this.interceptors = interceptors;
    this.changingAnswers = changingAnswers;
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
