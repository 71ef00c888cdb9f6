import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from './api-error.js';
import type { ErrorRow } from './define-errors.js';
import { HTTP_ERRORS } from './http.errors.js';

/** Maximum number of header fields of a request. */
export const MAX_FIELDS = 100;

/** Message parameters for input that the parser cannot read or does not treat as a request. */
export const UNREADABLE = {
  reason: 'it cannot be read as HTTP/1.1',
  fields: MAX_FIELDS,
  method: 'CONNECT',
  allowed: 'none, because the service is not a proxy',
};

/** The errors by code of Node's parser; all other parser errors are malformed requests. */
const ROWS: Readonly<Record<string, ErrorRow>> = {
  HPE_HEADER_OVERFLOW: HTTP_ERRORS.headers_too_large,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: HTTP_ERRORS.payload_too_large,
  ERR_HTTP_REQUEST_TIMEOUT: HTTP_ERRORS.request_timeout,
};

/** The catalogue's row for an error of Node's HTTP parser. */
export function rowOf({ code = '' }: NodeJS.ErrnoException): ErrorRow {
  return ROWS[code] ?? HTTP_ERRORS.malformed_request;
}

/** The bytes of a response for a connection on which Node's parser has found no request. It is the last response of the connection. */
export function rawResponse(body: ErrorBody, headers: Readonly<Record<string, string>> = {}): string {
  const text = JSON.stringify(body);
  const fields = {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    Date: new Date().toUTCString(),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}
