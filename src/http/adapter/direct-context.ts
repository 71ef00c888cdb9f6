import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';

/**
 * Nest's execution context of an HTTP request, which guards ask for the request some ten times: Nest's own makes three functions each
 * time.
 */
export class DirectContext extends ExecutionContextHost {
  override switchToHttp(): this {
    return this;
  }

  // Nest declares these type parameters: the caller states the type that it expects.
  /* eslint-disable typescript/no-unnecessary-type-parameters */
  getRequest<T>(): T {
    return this.getArgByIndex<T>(0);
  }

  getResponse<T>(): T {
    return this.getArgByIndex<T>(1);
  }

  getNext<T>(): T {
    return this.getArgByIndex<T>(2);
  }
}
