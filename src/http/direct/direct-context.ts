import type { HttpArgumentsHost } from '@nestjs/common/interfaces/index.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';

/** Nest's execution context of an HTTP request, without making three functions each time that it is asked for one. */
export class DirectContext extends ExecutionContextHost implements HttpArgumentsHost {
  /** A file or stream that the handler has answered, to be closed when it is not sent. */
  streamed: unknown;

  // The types are Nest's: whoever asks says what it is.
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
  /* eslint-enable */

  override switchToHttp(): HttpArgumentsHost {
    return this;
  }
}
