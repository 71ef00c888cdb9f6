import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors/api-error.js';
import type { ErrorRow } from '../errors/define-errors.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** Refusals by the code of Node's parser error; every other parser error is a malformed request. */
const ROWS: Readonly<Record<string, ErrorRow>> = {
  HPE_HEADER_OVERFLOW: HTTP_ERRORS.headers_too_large,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: HTTP_ERRORS.payload_too_large,
  ERR_HTTP_REQUEST_TIMEOUT: HTTP_ERRORS.request_timeout,
};

/**
 * Gives the Error body to what Node's HTTP parser refuses before any request exists. No key is known there,
 * so these answers carry no rate-limit headers.
 */
export function answerParserRefusals(server: Server, bodyLimitBytes: number): void {
  // Node answers a missing Host itself, without a body; refuseMissingHost does it instead.
  (server as Server & { requireHostHeader: boolean }).requireHostHeader = false;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegunToAnswer(socket)) {
      socket.destroy();
      return;
    }
    const row = ROWS[error.code ?? ''] ?? HTTP_ERRORS.malformed_request;
    socket.end(rawResponse(new ApiError(row, { params: { limit: bodyLimitBytes } })));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // RFC 9110 section 9.3.6: this is no proxy, so no target can be connected to.
    const refusal = new ApiError(HTTP_ERRORS.method_not_allowed, {
      params: { method: 'CONNECT', allowed: 'other methods' },
      headers: { Allow: '' },
    });
    socket.on('error', () => socket.destroy());
    socket.end(rawResponse(refusal));
  });
  // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1).
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
}

function rawResponse({ body, headers }: ApiError): string {
  const text = JSON.stringify(body);
  const fields = {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}

/** Whether a response is under way on this socket; Node's own handler asks the same private field. */
function hasBegunToAnswer(socket: Duplex): boolean {
  const { _httpMessage: message } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return message?.headersSent ?? false;
}
