import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection stays open after an answer that came before the end of the body, in milliseconds. */
const LINGER_MS = 1_000;

/** Whether a request announces a body (RFC 9112 section 6). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) !== 0);
}

/** Whether something of the body has not arrived yet. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request);
}

/**
 * Lets the client read its answer before the connection is closed (RFC 9112 section 9.6): to close a socket with unread bytes
 * resets it, and the answer may be lost. Our side is closed at once, nothing more is read, and the rest follows after a
 * second, whether or not the client has read it.
 */
export function lingerBeforeClosing(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    // A turn later: Node lets the rest of the body flow when it has ended a response.
    setImmediate(() => socket.pause());
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
