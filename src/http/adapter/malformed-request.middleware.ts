import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { requestLineFaultOf } from './request-line.js';

/** The most header fields that a request may have. */
export const MOST_FIELDS = 100;

/** Host and optional port (RFC 9110 section 7.2); the host may be empty. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d{0,5})?$/i;

const HOST_LENGTH = 'host'.length;
const AUTHORIZATION_LENGTH = 'authorization'.length;

/**
 * Refuses requests that Node's parser accepts although they are not valid. Such a request does not count towards a quota; the
 * headers of the refusal show the quota of the client's address.
 */
@Injectable()
export class MalformedRequestMiddleware implements NestMiddleware {
  constructor(private readonly quota: QuotaService) {}

  /** Returns a promise, which rejects, only to refuse a request; every other request goes on synchronously. */
  use = (request: Request, response: Response, next: NextFunction): Promise<never> | undefined => {
    const refusal = refusalOf(request);
    if (refusal) return this.refuse(request, response, refusal);
    next();
    return undefined;
  };

  private async refuse(request: Request, response: Response, refusal: ApiError): Promise<never> {
    // It is uncertain where a malformed request ends and the next one begins, so nothing more is read from the connection.
    response.setHeader('Connection', 'close');
    await this.quota.show(request, response);
    throw refusal;
  }
}

function refusalOf(request: Request): ApiError | undefined {
  if (request.rawHeaders.length > 2 * MOST_FIELDS)
    return new ApiError(HTTP_ERRORS.headers_too_large, { params: { fields: MOST_FIELDS } });
  const reason = requestLineFaultOf(request) ?? faultOfHeaders(request);
  return reason === undefined
    ? undefined
    : new ApiError(HTTP_ERRORS.malformed_request, { params: { reason } });
}

function faultOfHeaders({ headers, httpVersion, rawHeaders }: Request): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  if (host === undefined) {
    if (httpVersion === '1.1') return 'it has no Host (RFC 9112 section 3.2)';
  } else if (!HOST.test(host)) return 'its Host is not a host and port';
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0'))
    return 'the only Transfer-Encoding that is understood is chunked, in HTTP/1.1';
  return repeatedField(rawHeaders);
}

/**
 * Names a field that is repeated. Node keeps the first of such fields in `headers` and drops the others, so `rawHeaders` is
 * read, where names and values alternate. The length is compared first, because it excludes most names at little cost.
 */
function repeatedField(rawHeaders: readonly string[]): string | undefined {
  let [hosts, authorizations] = [0, 0];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === HOST_LENGTH && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === AUTHORIZATION_LENGTH && name.toLowerCase() === 'authorization')
      authorizations += 1;
  }
  if (hosts > 1) return 'it has more than one Host';
  return authorizations > 1 ? 'it has more than one Authorization' : undefined;
}
