import { tracingChannel } from 'node:diagnostics_channel';
import type { Type } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

/** What subscribers of the tracing channel are told of one request for an operation. */
export interface TracedOperation {
  readonly request: Request;
  /** Its status is there when the operation is done, at `asyncEnd`. */
  readonly response: Response;
  /** The method of the route, such as GET; `ALL` for one of every method. */
  readonly method: string;
  /** The path of the route as it was declared, such as `/v1/pets/:petId`. */
  readonly route: string;
  /** The class that declares the handler; undefined for one that `@Operation()` does not declare, as is `handler`. */
  readonly controller: Type | undefined;
  /** The name of the handler there. */
  readonly handler: string | undefined;
  /** Whether the service runs it itself; Nest does otherwise. */
  readonly isCompiled: boolean;
}

/** Name of the tracing channel that sees each run of an operation, whoever runs it. */
export const OPERATION_CHANNEL = 'petstore:operation';

const channel = tracingChannel<unknown, TracedOperation>(OPERATION_CHANNEL);

/** The handler of a route, seen by whoever subscribes to the channel; free of cost while nobody does. */
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
