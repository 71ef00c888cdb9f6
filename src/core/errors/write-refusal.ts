import { STATUS_CODES } from 'node:http';
import { HttpException, Logger } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import type { Request, Response } from 'express';
import { endTogether } from '../ended-together.js';
import { addressOf } from '../request-address.js';
import { ApiError, type ErrorBody, HEADERS_OF_BODY, shortened } from './api-error.js';
import { isClientGone } from './client-gone.js';
import { publicPrefixOf } from '../public-prefix.js';
import { helpLink } from './help-link.js';
import { HTTP_ERRORS } from './http.errors.js';

const logger = new Logger('Errors');
const nest = new BaseExceptionFilter();
/** Headers that a handler may have set for what it did not send. */
const OF_OTHER_BODY = ['Content-Disposition', 'Content-Encoding', 'Content-Range'];

/** Sends the Error body for whatever was thrown, unless its client is gone; logs a status of 500 or above. */
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
  const isLogged = thrown instanceof ApiError && thrown.isLogged;
  if (body.status >= 500 && !isLogged) logger.error(reasonOf(thrown), stackOf(thrown));
  if (response.headersSent) {
    // Part of a response has been sent. Closing the connection is the only way to show the client that it is incomplete.
    response.destroy();
    return;
  }
  for (const name of OF_OTHER_BODY) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  addLink(request, response, body.code);
  const text = JSON.stringify(body);
  response.statusCode = body.status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.setHeader('Cache-Control', 'no-store');
  // Node writes a string together with the head, in one piece; a buffer would be a second piece.
  endTogether(response, text);
}

/** Adds the link to the page of errors after other links, but not for an upgrade or on the management port, which have no pages. */
function addLink(request: Request, response: Response, code: string): void {
  const hasPages = 'app' in request && !request.isByManagementPort;
  const { Link: link } = hasPages ? helpLink(publicPrefixOf(request), code) : {};
  if (link === undefined) return;
  const present = response.getHeader('Link');
  response.setHeader('Link', present === undefined ? link : `${[present].flat().join(', ')}, ${link}`);
}

/** Body and headers for anything thrown: catalogue errors as they are, Nest's exceptions by their status. */
function toRefusal(given: unknown): Pick<ApiError, 'body' | 'headers'> {
  if (given instanceof ApiError) return given;
  // One of the package http-errors, which Express and its middlewares throw.
  const thrown = nest.isHttpError(given)
    ? new HttpException(nest.getHttpErrorMessage(given), given.statusCode)
    : given;
  const status = thrown instanceof HttpException ? thrown.getStatus() : 500;
  const sent: unknown = thrown instanceof HttpException ? thrown.getResponse() : undefined;
  if (isErrorBody(sent, status)) return { body: sent, headers: HEADERS_OF_BODY.get(sent) ?? {} };
  if (status === 503) {
    return new ApiError(HTTP_ERRORS.service_unavailable, {
      params: { reason: 'try again shortly' },
      headers: { 'Retry-After': '1' },
    });
  }
  const name = STATUS_CODES[status];
  if (!(thrown instanceof HttpException) || status === 500 || (status > 500 && name === undefined))
    return new ApiError(HTTP_ERRORS.internal_error);
  // A module may throw Nest's own exceptions: their code is the name of the status, and their message is sent, but not that of a
  // failure, which may name hosts or statements.
  const message = status > 500 && name !== undefined ? name : messageOf(thrown);
  return { body: { code: slugOf(status), message, status }, headers: {} };
}

/** The message of an exception or of its response: Nest's pipes give several, of which any may repeat the request. */
function messageOf(thrown: HttpException): string {
  const response: unknown = thrown.getResponse();
  if (typeof response === 'string') return response;
  const { message } = (response ?? {}) as { readonly message?: unknown };
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

/** Whether a body is the Error body of the specification, with the status that it is sent with. */
function isErrorBody(body: unknown, status: number): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false;
  const { code, message, status: told } = body as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof message === 'string' && told === status;
}
