import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HEADERS_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { HandlerMetadata } from '../handler-metadata.js';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { accepts } from './accept.js';
import { UnmatchedRoutes } from './adapter/unmatched-routes.js';

const JSON_TYPE = 'application/json';

/**
 * Refuses a request whose `Accept` excludes what the operation answers (RFC 9110 section 12.5.1): JSON, or the type that
 * the handler names with Nest's `@Header('Content-Type', …)`, or that of `@Sse()`.
 */
@Injectable()
export class AcceptableGuard implements CanActivate {
  private readonly type;

  constructor(reflector: Reflector) {
    this.type = new HandlerMetadata(([handler]) => typeOf(reflector, handler));
  }

  canActivate(context: ExecutionContext): boolean {
    const { accept } = context.switchToHttp().getRequest<Request>().headers;
    if (accept === undefined || context.getClass() === UnmatchedRoutes) return true;
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
