import type { IncomingMessage, ServerResponse } from 'node:http';

/** What streams fail with when the other side of a connection is closed, and what work that is aborted for it throws. */
const CODES: ReadonlySet<unknown> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
]);
/** Messages of multer, whose errors have no code. */
const OF_MULTER: ReadonlySet<unknown> = new Set(['Request aborted', 'Request closed']);

/**
 * Whether something was thrown only because the client has closed its connection. Nobody reads a response, and it is not an error of
 * the service: such a request is logged with 499.
 */
export function isClientGone(thrown: unknown, request: IncomingMessage, response: ServerResponse): boolean {
  const aborted = isReset(request.errored) ? request.errored : undefined;
  if (!(thrown instanceof Error) || !(aborted || response.closed)) return false;
  const { code, cause, message } = thrown as NodeJS.ErrnoException;
  return (
    (aborted !== undefined && (thrown === aborted || cause === aborted)) ||
    CODES.has(code) ||
    thrown.name === 'AbortError' ||
    OF_MULTER.has(message)
  );
}

/** Node fails the body with this error when the connection is closed before its end. */
function isReset(error: NodeJS.ErrnoException | null): boolean {
  return error?.code === 'ECONNRESET';
}
