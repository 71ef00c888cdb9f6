import { randomUUID } from 'node:crypto';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { holdsApiKey } from '../accounts/api-key.format.js';
import { callerOf } from '../auth/caller.js';
import { responseStatusOf, routeTemplateOf } from '../metrics/request-metrics.middleware.js';
import { AppLogger } from './app-logger.js';

/** The request ids that are accepted; other characters could forge log lines or headers. */
const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives every request an id: the client's `X-Request-Id` if it is well-formed, else a new UUID. */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const offered = request.headers['x-request-id'];
  const id = typeof offered === 'string' && isAcceptable(offered) ? offered : randomUUID();
  response.setHeader('X-Request-Id', id);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
}

/** An API key sent in this header by mistake must not get into the log and the audit trail. */
function isAcceptable(id: string): boolean {
  return WELL_FORMED.test(id) && !(id.includes('pst_') && holdsApiKey(id));
}

/** The id of a request, from its response's header. */
export function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}

/** Writes one line per request. It contains the route template, not the path, and no headers, so that no secret is logged. */
@Injectable()
export class RequestLogMiddleware implements NestMiddleware {
  constructor(private readonly logger: AppLogger) {}

  use = (request: Request, response: Response, next: NextFunction): void => {
    const start = performance.now();
    response.on('close', () => {
      this.logger.pino.info({
        requestId: requestIdOf(response),
        clientId: callerOf(request)?.clientId,
        method: request.method,
        route: routeTemplateOf(request),
        status: responseStatusOf(response),
        durationMs: Math.round((performance.now() - start) * 1000) / 1000,
        ...(response.writableFinished ? {} : { aborted: true }),
      });
    });
    next();
  };
}
