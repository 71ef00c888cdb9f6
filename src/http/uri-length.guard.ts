import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** Longest request target in characters; RFC 9110 section 4.1 recommends to support at least 8,000 octets. */
const LIMIT = 8_192;

/** Refuses request targets that are longer than any operation has use for. */
@Injectable()
export class UriLengthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { originalUrl } = context.switchToHttp().getRequest<Request>();
    if (originalUrl.length > LIMIT)
      throw new ApiError(HTTP_ERRORS.uri_too_long, { params: { limit: LIMIT } });
    return true;
  }
}
