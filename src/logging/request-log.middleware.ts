import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { callerOf } from '../auth/caller.js';
import { responseStatusOf, routeTemplateOf } from '../metrics/request-labels.js';
import { AppLogger } from './app-logger.js';
import { requestIdOf } from './request-id.middleware.js';

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
