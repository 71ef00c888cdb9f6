import { tracingChannel } from 'node:diagnostics_channel';
import type { Type } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** What subscribers of the tracing channel receive for one request for an operation. */
export interface TracedOperation {
  readonly request: Request;
  /** Its status is known when the operation has ended, at `asyncEnd`. */
  readonly response: Response;
  /** The method of the route, such as GET; `ALL` for a route of every method. */
  readonly method: string;
  /** The path of the route as it was declared, such as `/v1/pets/:petId`. */
  readonly route: string;
  /** The class that declares the handler. It, `handler` and `operation` are undefined if `@Operation()` does not declare the handler. */
  readonly controller: Type | undefined;
  /** The name of the handler in that class. */
  readonly handler: string | undefined;
  /** The name that `@Operation()` gives it in the OpenAPI document, such as `getPet`. */
  readonly operation: string | undefined;
  /** Whether the operation is compiled; otherwise Nest runs it. */
  readonly isCompiled: boolean;
}

/** Name of the tracing channel that reports each run of an operation, whether it is compiled or run by Nest. */
export const OPERATION_CHANNEL = 'petstore:operation';

const channel = tracingChannel<unknown, TracedOperation>(OPERATION_CHANNEL);

/**
 * Wraps the handler of a route so that each run is reported to the subscribers of the channel. Without subscribers it adds no
 * cost.
 */
export function traced(
  handler: RequestHandler,
  route: Omit<TracedOperation, 'request' | 'response'>,
): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): unknown =>
    channel.hasSubscribers
      ? channel.tracePromise(async () => handler(request, response, next), {
          ...route,
          request,
          response,
        })
      : handler(request, response, next);
}
