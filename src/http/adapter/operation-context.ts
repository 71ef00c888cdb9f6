import type { ExecutionContext, Type } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ReplaySubject } from 'rxjs';

type Http = ReturnType<ExecutionContext['switchToHttp']>;

/**
 * Nest's execution context of an HTTP request. `switchToHttp()` returns the context itself; Nest's makes a new object for each
 * call.
 */
export class OperationContext implements ExecutionContext, Http {
  /** The files and streams that the handler has returned; what is not sent of them is destroyed. */
  streams: unknown[] | undefined;
  /** Called in place of pipes and handler, with a function that runs them; may answer without. */
  aroundHandler: ((handler: () => unknown) => Promise<unknown>) | undefined;
  private givenUp: ReplaySubject<void> | undefined;

  constructor(
    readonly request: Request,
    readonly response: Response,
    private readonly next: NextFunction,
    private readonly controller: Type,
    private readonly handler: ReturnType<ExecutionContext['getHandler']>,
  ) {}

  /** Itself: a request begins with a run of the whole chain. */
  get context(): this {
    return this;
  }

  /** Emits when the client is gone, if what it waited for is an Observable that the handler has returned. */
  get unwanted(): ReplaySubject<void> {
    return (this.givenUp ??= new ReplaySubject(1));
  }

  /** Ends what is subscribed when the client disconnects. Nest does so only if the handler has returned an Observable. */
  giveUpWhenClosed(): void {
    if (this.response.closed) this.unwanted.next();
    else this.response.once('close', () => this.unwanted.next());
  }

  // Nest declares these type parameters: the caller states the type that it expects.
  /* eslint-disable typescript/no-unnecessary-type-parameters */
  getClass<T>(): Type<T> {
    return this.controller as Type<T>;
  }

  getHandler(): ReturnType<ExecutionContext['getHandler']> {
    return this.handler;
  }

  getType<Kind extends string>(): Kind {
    return 'http' as Kind;
  }

  getArgs<T extends unknown[]>(): T {
    return [this.request, this.response, this.next] as unknown as T;
  }

  getArgByIndex<T>(index: number): T {
    return this.getArgs()[index] as T;
  }

  getRequest<T>(): T {
    return this.request as T;
  }

  getResponse<T>(): T {
    return this.response as T;
  }

  getNext<T>(): T {
    return this.next as T;
  }
  /* eslint-enable */

  switchToHttp(): Http {
    return this;
  }

  switchToRpc(): ReturnType<ExecutionContext['switchToRpc']> {
    return { getData: <T>() => this.request as T, getContext: <T>() => this.response as T };
  }

  switchToWs(): ReturnType<ExecutionContext['switchToWs']> {
    return {
      getClient: <T>() => this.request as T,
      getData: <T>() => this.response as T,
      getPattern: () => this.next as unknown as string,
    };
  }
}
