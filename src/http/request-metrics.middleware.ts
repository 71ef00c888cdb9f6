import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Metrics } from '../core/metrics/metrics.js';

/** Nginx's status for a request whose client closed the connection before the response; never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** The status that a request ended with, for logs and metrics: the one that was sent, or 499 when none was. */
export function responseStatusOf({ headersSent, statusCode }: Response): number {
  return headersSent ? statusCode : CLIENT_CLOSED_REQUEST;
}

/**
 * Notes that a request is answered with a page or file that is served behind all routes. `path` is the one that it is served at: pages
 * have it as their route, files the one of their folder, so that a page with thirty files makes two routes.
 */
export function noteServed(request: Request, path: string): void {
  const at = path.lastIndexOf('/');
  request.servedRoute = path.includes('.', at) ? `${path.slice(0, at)}/*` : path;
}

/**
 * The template of the matched route, such as `/v1/pets/:petId` or `/docs/assets/*`. Unlike paths, there is a limited number of
 * templates.
 */
export function routeTemplateOf(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : (request.servedRoute ?? 'unmatched');
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times every request by method, route template and status, and counts refusals by their code. */
@Injectable()
export class RequestMetricsMiddleware implements NestMiddleware {
  private readonly requests;
  private readonly durations;
  private readonly refusals;

  constructor(metrics: Metrics) {
    const labels = ['method', 'route', 'status'] as const;
    this.requests = metrics.counter('http_requests_total', 'HTTP requests answered.', labels);
    this.durations = metrics.histogram(
      'http_request_duration_seconds',
      'Time from the request’s arrival to the end of its response, in seconds.',
      labels,
      SECONDS,
    );
    this.refusals = metrics.counter(
      'petstore_refusals_total',
      'Requests that were refused, by the code of the Error body, such as invalid_api_key.',
      ['code'],
    );
  }

  use = (request: Request, response: Response, next: NextFunction): void => {
    const start = performance.now();
    response.on('close', () => {
      const labels = {
        method: request.method,
        route: routeTemplateOf(request),
        status: String(responseStatusOf(response)),
      };
      this.count(labels, (performance.now() - start) / 1_000, request.refusalCode);
    });
    next();
  };

  /** Counts one request that took so many seconds; `code` is that of the Error body it was refused with, undefined for any other answer. */
  count(
    labels: { method: string; route: string; status: string },
    seconds: number,
    code: string | undefined,
  ): void {
    this.requests.inc(labels);
    this.durations.observe(labels, seconds);
    if (code !== undefined) this.refusals.inc({ code });
  }
}
