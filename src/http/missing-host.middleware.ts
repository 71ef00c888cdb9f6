import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';

/** RFC 9112 section 3.2: an HTTP/1.1 request without Host gets a 400. */
export function refuseMissingHost(request: Request, _response: Response, next: NextFunction): void {
  const missing = request.httpVersion === '1.1' && request.headers.host === undefined;
  next(missing ? new ApiError(HTTP_ERRORS.malformed_request) : undefined);
}
