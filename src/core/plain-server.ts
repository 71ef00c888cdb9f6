import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from './errors/api-error.js';
import type { ErrorRow } from './errors/define-errors.js';
import { HTTP_ERRORS } from './errors/http.errors.js';
import { UNREADABLE, rawResponse, rowOf } from './errors/raw-response.js';

/** A server without the application. It also sends the Error body for requests that Node's parser rejects. */
export function plainServer(respond: RequestListener): Server {
  // Node would refuse a missing Host, and any `Expect` other than 100-continue, without a body.
  const server = createServer({ requireHostHeader: false }, respond).on('checkExpectation', respond);
  const bodyOf = (row: ErrorRow) => new ApiError(row, { params: UNREADABLE }).body;
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node no longer listens to such a socket, so an error would end the process.
    socket.on('error', () => socket.destroy());
    socket.end(rawResponse(bodyOf(HTTP_ERRORS.method_not_allowed), { Allow: '' }));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else socket.end(rawResponse(bodyOf(rowOf(error))));
  });
  return server;
}
