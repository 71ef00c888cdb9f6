import type { IncomingMessage } from 'node:http';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { MAX_FIELDS } from '../../core/errors/raw-response.js';
import { plainTargetOf } from '../../core/request-target.js';
import { QuotaService } from '../../throttling/quota.service.js';

/** Host and optional port (RFC 9110 section 7.2); the host may be empty. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d{0,5})?$/i;

const HOST_LENGTH = 'host'.length;
const AUTHORIZATION_LENGTH = 'authorization'.length;
const CONTENT_TYPE_LENGTH = 'content-type'.length;

/** Refuses invalid requests that Node's parser accepts. Each counts for the address of its client. */
@Injectable()
export class MalformedRequestMiddleware implements NestMiddleware {
  constructor(private readonly quota: QuotaService) {}

  /** Returns a promise, which rejects, only to refuse a request; every other request continues synchronously. */
  use = (request: Request, response: Response, next: NextFunction): Promise<never> | undefined => {
    const refusal = malformationOf(request);
    if (refusal) return this.refuse(request, response, refusal);
    next();
    return undefined;
  };

  private async refuse(request: Request, response: Response, refusal: ApiError): Promise<never> {
    // It is uncertain where a malformed request ends and the next one starts, so nothing more is read from the connection.
    response.setHeader('Connection', 'close');
    await this.quota.noteRefusal(request, response);
    throw refusal;
  }
}

/** The error for an invalid request; undefined for a valid one. */
export function malformationOf(request: IncomingMessage): ApiError | undefined {
  if (request.rawHeaders.length > 2 * MAX_FIELDS)
    return new ApiError(HTTP_ERRORS.headers_too_large, { params: { fields: MAX_FIELDS } });
  const reason = request.malformation ?? headerError(request);
  return reason === undefined
    ? undefined
    : new ApiError(HTTP_ERRORS.malformed_request, { params: { reason } });
}

function headerError({ headers, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined) {
    if (httpVersion === '1.1') return 'it has no Host (RFC 9112 section 3.2)';
  } else if (!HOST.test(host)) return 'its Host is not a host and port';
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    return 'the only supported Transfer-Encoding is chunked, in HTTP/1.1';
  return repeatedField(rawHeaders);
}

/** Finds a repeated field in `rawHeaders`, because Node drops it from `headers`. Lengths are compared first, which is cheap. */
function repeatedField(rawHeaders: readonly string[]): string | undefined {
  let [hosts, authorizations, types] = [0, 0, 0];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === HOST_LENGTH && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === AUTHORIZATION_LENGTH && name.toLowerCase() === 'authorization')
      authorizations += 1;
    else if (name.length === CONTENT_TYPE_LENGTH && name.toLowerCase() === 'content-type') types += 1;
  }
  if (hosts > 1) return 'it has more than one Host';
  if (types > 1) return 'it has more than one Content-Type';
  return authorizations > 1 ? 'it has more than one Authorization' : undefined;
}

/** Node's parser accepts other versions, such as HTTP/0.9 and HTTP/2.0, and reports RTSP/1.0 as HTTP/1.0. */
const HTTP_1 = new Set(['1.0', '1.1']);

/**
 * Rewrites the target of a new request to origin form, and decodes unreserved characters in its path, before the request is routed. If the
 * target or protocol is not supported, the target becomes `*` and MalformedRequestMiddleware refuses the request. With the original target,
 * Express and Nest could not even log it.
 */
export function readRequestLine(request: IncomingMessage): void {
  const { url = '', method } = request;
  if (url.startsWith('/') && !/[%#]/.test(url) && request.httpVersion === '1.1') return;
  const target = plainTargetOf(url);
  if (target === undefined || (target === '*' && method !== 'OPTIONS'))
    request.malformation = 'its target is neither a path nor an http URL';
  else if (target.includes('#')) request.malformation = 'its target has a fragment (#)';
  else if (!HTTP_1.has(request.httpVersion)) request.malformation = 'its protocol is not HTTP/1.1';
  request.url = request.malformation === undefined ? target : '*';
}
