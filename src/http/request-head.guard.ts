import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { HEADERS_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { HandlerMetadata } from '../core/handler-metadata.js';
import { requestOf } from '../core/request-protocol.js';
import { openConnection } from './adapter/upgrades.js';
import { UnmatchedRoutes } from './adapter/unmatched-routes.js';
import { accepts } from './media-type.js';

/** Longest request target, in characters; RFC 9110 section 4.1 recommends supporting at least 8,000 octets. */
const LIMIT = 8_192;

const JSON_TYPE = 'application/json';

/** Refuses targets that are too long, and an `Accept` that excludes the type of the response: JSON, or what the handler names. */
@Injectable()
export class RequestHeadGuard implements CanActivate {
  private readonly type;

  constructor(reflector: Reflector) {
    this.type = new HandlerMetadata(([handler]) => typeOf(reflector, handler));
  }

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (!request) return true;
    if (request.originalUrl.length > LIMIT)
      throw new ApiError(HTTP_ERRORS.uri_too_long, { params: { limit: LIMIT } });
    const { accept } = request.headers;
    if (accept === undefined || context.getClass() === UnmatchedRoutes) return true;
    // An upgrade responds with another protocol.
    if (context.getHandler() === openConnection) return true;
    const type = this.type.of(context);
    if (accepts(accept, type)) return true;
    throw new ApiError(HTTP_ERRORS.not_acceptable, { params: { type } });
  }
}

function typeOf(reflector: Reflector, handler: Parameters<Reflector['get']>[1]): string {
  if (Reflect.hasMetadata(SSE_METADATA, handler)) return 'text/event-stream';
  const headers = reflector.get<{ name: string; value: string }[] | undefined>(HEADERS_METADATA, handler);
  const own = headers?.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  return own?.split(';', 1)[0]?.trim().toLowerCase() ?? JSON_TYPE;
}
