import { randomUUID } from 'node:crypto';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { holdsApiKey } from '../auth/clients/api-key.format.js';
import { responseStatusOf, routeTemplateOf } from './request-metrics.middleware.js';
import { AppLogger } from '../core/logging/app-logger.js';

/** The request ids that are accepted; other characters could forge log lines or headers. */
const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/** Below this path orchestrators ask whether the service is there. */
const PROBES = '/health/';

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

/** What the line of a request says, such as `GET /v1/pets 401 2 ms missing_api_key`; parts that are undefined are left out. */
export function requestLine(...parts: readonly (string | number | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(' ');
}

/**
 * The level of a request's line: error for what the service could not answer, and info for what it refused, because clients decide how
 * often that is. Probes come every few seconds and tell nothing by themselves: the log has a line when what they tell changes.
 */
function levelOf(route: string, status: number): 'debug' | 'info' | 'error' {
  if (route.startsWith(PROBES)) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

/**
 * Writes one line per request, except for what an address sends beyond its limit without a valid key. It contains the route template, not
 * the path, and no headers, so that no secret is logged.
 */
@Injectable()
export class RequestLogMiddleware implements NestMiddleware {
  constructor(private readonly logger: AppLogger) {}

  use = (request: Request, response: Response, next: NextFunction): void => {
    const start = performance.now();
    response.on('close', () => {
      const { method } = request;
      const [route, status] = [routeTemplateOf(request), responseStatusOf(response)];
      const code = request.refusalCode;
      const level = levelOf(route, status);
      if (!this.logger.pino.isLevelEnabled(level) || request.isUnlogged) return;
      const durationMs = Math.round((performance.now() - start) * 1000) / 1000;
      this.logger.pino[level](
        {
          requestId: requestIdOf(response),
          ...request.traceIds,
          clientId: request.caller?.clientId,
          method,
          route,
          status,
          ...(code === undefined ? {} : { code }),
          durationMs,
          ...(response.writableFinished ? {} : { aborted: true }),
        },
        requestLine(method, route, status, `${Math.round(durationMs)} ms`, code),
      );
    });
    next();
  };
}
