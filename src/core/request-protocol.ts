import type { ExecutionContext } from '@nestjs/common';

/**
 * Whether a guard of the platform has a request of HTTP before it. Messages of a WebSocket pass: their connection was admitted
 * by the same guards when it was opened. Throws for any other protocol, which is so refused: its callers are not known.
 */
export function isHttp(context: ExecutionContext): boolean {
  const protocol = context.getType<string>();
  if (protocol === 'http') return true;
  if (protocol === 'ws') return false;
  throw new Error(
    `The guards of the platform know HTTP and WebSockets, and refuse what comes by "${protocol}".`,
  );
}
