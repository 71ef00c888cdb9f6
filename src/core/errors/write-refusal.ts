import { STATUS_CODES } from 'node:http';
import { HttpException, Logger } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { Request, Response } from 'express';
import { deferEnd } from '../deferred-end.js';
import { endEventStream, isEventStream } from '../event-stream.js';
import { addressOf } from '../request-address.js';
import { ApiError, BodyWithHeaders, type ErrorBody, shortened } from './api-error.js';
import { CHALLENGE } from './challenge.js';
import { isClientGone } from './client-gone.js';
import { publicPrefixOf } from '../public-prefix.js';
import { helpLink } from './help-link.js';
import { HTTP_ERRORS } from './http.errors.js';

/** The Express application setting that contains the realm of its challenges. */
export const REALM = 'realm';

/** The part of an exception that is sent. */
type Refused = Pick<ApiError, 'body' | 'headers'>;

const logger = new Logger('Errors');
const nest = new BaseExceptionFilter();
/** Headers that a handler may have set for a body that is not sent. */
const OF_OTHER_BODY = ['Content-Disposition', 'Content-Encoding', 'Content-Range'];

/** Prepares a response for any exception filter: sets the headers of the exception and removes those of the unsent result. */
export function prepareRefusal(thrown: unknown, response: Response): void {
  if (response.headersSent) return;
  for (const name of ['Content-Type', ...OF_OTHER_BODY]) response.removeHeader(name);
  setHeadersOf(toRefusal(thrown), response);
  response.setHeader('Cache-Control', 'no-store');
}

/** Sets the headers of a refusal. A 401 without a challenge gets the one for API keys, because RFC 9110 section 15.5.2 requires one. */
function setHeadersOf({ body, headers }: Refused, response: Response): void {
  if (body.status === 401 && !response.hasHeader('WWW-Authenticate'))
    setHeaders(response, { 'WWW-Authenticate': CHALLENGE });
  setHeaders(response, headers);
}

/** Sets the headers of an error, with the service's realm in its challenge. */
export function setHeaders(response: Response, headers: ApiError['headers']): void {
  for (const [name, value] of Object.entries(headers)) {
    const isChallenge = name === 'WWW-Authenticate';
    response.setHeader(name, isChallenge ? value.replace('{realm}', () => realmOf(response)) : value);
  }
}

function realmOf({ app }: Response): string {
  return String(app.get(REALM));
}

/**
 * The exception to send for something that a module's filter or a handler sends with an error status. If the exception that the filter
 * handles has an Error body with this status, its code and details remain, and a sent message replaces its own.
 */
export function exceptionOf(sent: unknown, status: number, handled: unknown): HttpException {
  const supplied: unknown = handled instanceof ApiError ? handled.body : responseOf(handled);
  // The response of another exception of the service, to which the filter has converted it.
  const isTranslated = isObject(sent) && BodyWithHeaders.headersOf(sent) !== undefined;
  const isPreserved = !isTranslated && isErrorBody(supplied, status);
  const body = isPreserved ? { ...supplied, message: textIn(sent) ?? supplied.message } : sent;
  return new HttpException(body as string | object, status, { cause: handled });
}

function textIn(sent: unknown): string | undefined {
  const text = isObject(sent) ? (sent as { readonly message?: unknown }).message : sent;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Sends the Error body for any exception, unless the client is gone. Logs statuses of 500 and above, unless already logged. */
export function writeRefusal(thrown: unknown, request: Request, response: Response): void {
  // An error was sent while the handler was running, so its result is ignored.
  if (response.headersSent && request.refusalCode !== undefined) return;
  if (isClientGone(thrown, request, response)) {
    response.destroy();
    return;
  }
  const refusal = toRefusal(thrown);
  const { body } = refusal;
  request.refusalCode = body.code;
  // Stored in the request, because it is unknown once the socket is closed.
  addressOf(request);
  const isLogged = request.isUnlogged || (thrown instanceof ApiError && thrown.isLogged);
  if (body.status >= 500 && !isLogged) logger.error(reasonOf(thrown), stackOf(thrown));
  if (response.headersSent) {
    // Part of the response has been sent. An event stream ends with an event of the type that Nest uses for failures; otherwise, closing
    // the connection is the only way to show the client that the response is incomplete.
    if (isEventStream(response)) endEventStream(response, `event: error\ndata: ${JSON.stringify(body)}\n\n`);
    else response.destroy();
    return;
  }
  for (const name of OF_OTHER_BODY) response.removeHeader(name);
  setHeadersOf(refusal, response);
  addLink(request, response, body.code);
  response.statusCode = body.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  deferEnd(response, JSON.stringify(body));
}

/** Adds the link to the page of errors after other links, but not on the management port, which has no pages. */
function addLink(request: Request, response: Response, code: string): void {
  const hasPages = 'app' in request && !request.isByManagementPort;
  const { Link: link } = hasPages ? helpLink(publicPrefixOf(request), code) : {};
  if (link === undefined) return;
  const present = response.getHeader('Link');
  response.setHeader('Link', present === undefined ? link : `${[present].flat().join(', ')}, ${link}`);
}

/** Body and headers for any exception: exceptions of the catalogue are unchanged, Nest's are converted according to their status. */
function toRefusal(supplied: unknown): Refused {
  if (supplied instanceof ApiError) return supplied;
  // An error of the http-errors package, which Express and its middlewares throw.
  const thrown = nest.isHttpError(supplied)
    ? new HttpException(nest.getHttpErrorMessage(supplied), supplied.statusCode)
    : supplied;
  const status = thrown instanceof HttpException ? thrown.getStatus() : 500;
  const sent = responseOf(thrown);
  if (isErrorBody(sent, status)) {
    const { code, message, details } = sent;
    const body = { code, message, status, ...(Array.isArray(details) ? { details } : {}) };
    return { body, headers: BodyWithHeaders.headersOf(sent) ?? {} };
  }
  if (status === 503) {
    return new ApiError(HTTP_ERRORS.service_unavailable, {
      params: { reason: 'try again shortly' },
      headers: { 'Retry-After': '1' },
    });
  }
  const name = STATUS_CODES[status];
  if (!(thrown instanceof HttpException) || status === 500 || (status > 500 && name === undefined))
    return new ApiError(HTTP_ERRORS.internal_error);
  // For Nest's exceptions, the code is the name of the status, and the message is sent except for statuses of 500 and above, because it may
  // contain host names or statements.
  const message = status > 500 && name !== undefined ? name : messageOf(thrown);
  return { body: { code: slugOf(status), message, status }, headers: {} };
}

/** The message of an exception or its response. Nest's pipes return several messages, each of which may quote the request. */
function messageOf(thrown: HttpException): string {
  const response = responseOf(thrown);
  if (typeof response === 'string' && response !== '') return response;
  const { error, message = error } = Object(response) as {
    readonly error?: unknown;
    readonly message?: unknown;
  };
  if (Array.isArray(message)) return shortened(message.map(String).join('; '));
  // Without a message, Nest's exception has the name of its class.
  return typeof message === 'string' ? message : (STATUS_CODES[thrown.getStatus()] ?? thrown.message);
}

function slugOf(status: number): string {
  return (STATUS_CODES[status] ?? 'error').toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function stackOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  return thrown.cause instanceof Error ? thrown.cause.stack : thrown.stack;
}

function responseOf(thrown: unknown): unknown {
  return thrown instanceof HttpException ? thrown.getResponse() : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a body has the members of the Error body and the status that it is sent with. */
function isErrorBody(body: unknown, status: number): body is ErrorBody {
  if (!isObject(body)) return false;
  const { code, message, status: statusInBody } = body as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof message === 'string' && statusInBody === status;
}
