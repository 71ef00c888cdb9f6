import type { ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/**
 * The request of HTTP that a guard of the platform has before it; undefined for a message of a WebSocket, whose connection was admitted
 * by the same guards when it was opened. Throws for any other protocol, which is so refused: its callers are not known. Unlike
 * `switchToHttp()` it makes no functions, which with ten guards is a microsecond of a request.
 */
export function requestOf(context: ExecutionContext): Request | undefined {
  const protocol = context.getType<string>();
  if (protocol === 'http') return context.getArgByIndex<Request>(0);
  if (protocol === 'ws') return undefined;
  throw new Error(
    `The guards of the platform know HTTP and WebSockets, and refuse what comes by "${protocol}".`,
  );
}

/** The response to the request that requestOf() returns. */
export function responseOf(context: ExecutionContext): Response {
  return context.getArgByIndex<Response>(1);
}
