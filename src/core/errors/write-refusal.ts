import { STATUS_CODES } from 'node:http';
import { HttpException, Logger } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { Request, Response } from 'express';
import { endTogether } from '../ended-together.js';
import { endEventStream, isEventStream } from '../event-stream.js';
import { addressOf } from '../request-address.js';
import { ApiError, BodyWithHeaders, type ErrorBody, shortened } from './api-error.js';
import { isClientGone } from './client-gone.js';
import { publicPrefixOf } from '../public-prefix.js';
import { helpLink } from './help-link.js';
import { HTTP_ERRORS } from './http.errors.js';

/** The setting of the Express application that holds the realm of its challenges. */
export const REALM = 'realm';

const logger = new Logger('Errors');
const nest = new BaseExceptionFilter();
/** Headers that a handler may have set for what it did not send. */
const OF_OTHER_BODY = ['Content-Disposition', 'Content-Encoding', 'Content-Range'];

/**
 * Prepares a response for whatever filter handles an exception: it gets the headers of the exception, and loses those of the result that
 * is not sent.
 */
export function prepareRefusal(thrown: unknown, response: Response): void {
  if (response.headersSent) return;
  for (const name of ['Content-Type', ...OF_OTHER_BODY]) response.removeHeader(name);
  setHeaders(response, toRefusal(thrown).headers);
  response.setHeader('Cache-Control', 'no-store');
}

/** Sets the headers of a refusal, whose challenge gets the realm of the service. */
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
 * The exception to write for what a filter of a module, or a handler, sends with the status of an error. Where the exception that the
 * filter handles has an Error body of this status, its code and details stay, and a message that is sent replaces its own.
 */
export function exceptionOf(sent: unknown, status: number, handled: unknown): HttpException {
  const supplied: unknown = handled instanceof ApiError ? handled.body : responseOf(handled);
  // The response of another exception of the service, into which the filter has translated it.
  const isTranslated = isObject(sent) && BodyWithHeaders.headersOf(sent) !== undefined;
  const isPreserved = !isTranslated && isErrorBody(supplied, status);
  const body = isPreserved ? { ...supplied, message: textIn(sent) ?? supplied.message } : sent;
  return new HttpException(body as string | object, status, { cause: handled });
}

function textIn(sent: unknown): string | undefined {
  const text = isObject(sent) ? (sent as { readonly message?: unknown }).message : sent;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Sends the Error body for any exception, unless the client is gone; logs statuses of 500 and above, unless they are logged already. */
export function writeRefusal(thrown: unknown, request: Request, response: Response): void {
  // A refusal was sent while the handler was running: its result is ignored.
  if (response.headersSent && request.refusalCode !== undefined) return;
  if (isClientGone(thrown, request, response)) {
    response.destroy();
    return;
  }
  const { body, headers } = toRefusal(thrown);
  request.refusalCode = body.code;
  // Kept on the request, because it is unknown once the socket is closed.
  addressOf(request);
  const isLogged = request.isUnlogged || (thrown instanceof ApiError && thrown.isLogged);
  if (body.status >= 500 && !isLogged) logger.error(reasonOf(thrown), stackOf(thrown));
  if (response.headersSent) {
    // Part of a response has been sent. An event stream says so in its last event, of the type that Nest has for failures; of others,
    // closing the connection is the only way to show the client that it is incomplete.
    if (isEventStream(response)) endEventStream(response, `event: error\ndata: ${JSON.stringify(body)}\n\n`);
    else response.destroy();
    return;
  }
  for (const name of OF_OTHER_BODY) response.removeHeader(name);
  setHeaders(response, headers);
  addLink(request, response, body.code);
  const text = JSON.stringify(body);
  response.statusCode = body.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.setHeader('Cache-Control', 'no-store');
  // Node writes a string together with the head, in one piece; a buffer would be a second piece.
  endTogether(response, text);
}

/** Adds the link to the page of errors after other links, but not on the management port, which has no pages. */
function addLink(request: Request, response: Response, code: string): void {
  const hasPages = 'app' in request && !request.isByManagementPort;
  const { Link: link } = hasPages ? helpLink(publicPrefixOf(request), code) : {};
  if (link === undefined) return;
  const present = response.getHeader('Link');
  response.setHeader('Link', present === undefined ? link : `${[present].flat().join(', ')}, ${link}`);
}

/** Body and headers for anything thrown: catalogue errors as they are, Nest's exceptions by their status. */
function toRefusal(supplied: unknown): Pick<ApiError, 'body' | 'headers'> {
  if (supplied instanceof ApiError) return supplied;
  // One of the package http-errors, which Express and its middlewares throw.
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
  // For Nest's exceptions, the code is the name of the status and the message is sent, except with a status of 500 or above, whose message
  // may name hosts or statements.
  const message = status > 500 && name !== undefined ? name : messageOf(thrown);
  return { body: { code: slugOf(status), message, status }, headers: {} };
}

/** The message of an exception or of its response: Nest's pipes give several, of which any may repeat the request. */
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

/** Whether a body has the members of the Error body, with the status that it is sent with. */
function isErrorBody(body: unknown, status: number): body is ErrorBody {
  if (!isObject(body)) return false;
  const { code, message, status: statusInBody } = body as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof message === 'string' && statusInBody === status;
}
