import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection stays open after a response that was sent before the whole body had arrived, in milliseconds. */
const LINGER_MS = 1_000;

/** Whether a request announces a body (RFC 9112 section 6). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

/** Whether a part of the announced body has not arrived yet. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request);
}

/**
 * Lets the client read its answer before the connection is closed (RFC 9112 section 9.6). Closing a socket with unread bytes
 * would reset the connection, and the answer might be lost. So the service ends its own side at once, reads nothing more, and
 * closes the connection after one second, whether or not the client has read the answer.
 */
export function lingerBeforeClosing(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    // In a later turn of the event loop: when Node has ended a response, it resumes the socket to discard the rest of the body.
    setImmediate(() => socket.pause());
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
