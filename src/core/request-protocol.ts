import type { ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/** The HTTP request before a guard; undefined for a message of a WebSocket, admitted when it was opened; throws for other protocols. */
export function requestOf(context: ExecutionContext): Request | undefined {
  const protocol = context.getType<string>();
  if (protocol === 'http') return context.getArgByIndex<Request>(0);
  if (protocol === 'ws') return undefined;
  throw new Error(
    `The guards of the platform know HTTP and WebSockets, and refuse requests of the protocol "${protocol}".`,
  );
}

/** The response to the request that requestOf() returns. */
export function responseOf(context: ExecutionContext): Response {
  return context.getArgByIndex<Response>(1);
}
