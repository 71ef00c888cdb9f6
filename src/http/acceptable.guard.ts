import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HEADERS_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { UnmatchedRoutes } from './unmatched-routes.js';

const JSON_TYPE = 'application/json';

/**
 * Refuses a request whose `Accept` excludes what the operation answers (RFC 9110 section 12.5.1): JSON, or the type that
 * the handler names with Nest's `@Header('Content-Type', …)`.
 */
@Injectable()
export class AcceptableGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.headers.accept === undefined || context.getClass() === UnmatchedRoutes) return true;
    const type = this.typeOf(context);
    if (request.accepts(type) !== false) return true;
    throw new ApiError(HTTP_ERRORS.not_acceptable, { params: { type } });
  }

  private typeOf(context: ExecutionContext): string {
    const headers = this.reflector.get<{ name: string; value: string }[] | undefined>(
      HEADERS_METADATA,
      context.getHandler(),
    );
    const own = headers?.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
    return own?.split(';', 1)[0]?.trim() ?? JSON_TYPE;
  }
}
