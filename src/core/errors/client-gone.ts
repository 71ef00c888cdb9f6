import type { IncomingMessage, ServerResponse } from 'node:http';

/** Error codes of streams when the peer has closed the connection, and of work aborted for that reason. */
const CODES: ReadonlySet<unknown> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
]);
/** Messages of multer, whose errors have no code. */
const OF_MULTER: ReadonlySet<unknown> = new Set(['Request aborted', 'Request closed']);

/**
 * Whether an error occurred only because the client has closed its connection. The request is logged with 499, because nobody receives a
 * response and the service did not cause the error.
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

/** Node's error for a body whose connection is closed before its end. */
function isReset(error: NodeJS.ErrnoException | null): boolean {
  return error?.code === 'ECONNRESET';
}
