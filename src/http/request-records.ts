import { randomUUID } from 'node:crypto';
import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { holdsApiKey } from '../auth/api-key.format.js';
import { ClientRequests } from '../auth/usage/client-requests.service.js';
import { Settings } from '../core/config/settings.js';
import { isEventStream } from '../core/event-stream.js';
import { AppLogger } from '../core/logging/app-logger.js';
import { Metrics } from '../core/metrics/metrics.js';
import { addressOf } from '../core/request-address.js';
import { callersTraceOf, runWithTraceIds, tracing } from '../core/tracing.js';
import { QuotaService } from '../throttling/quota.service.js';

/** Accepted request ids; other characters could forge log lines or headers. */
const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;
/** The route of requests that no route matches. */
const UNMATCHED = 'unmatched';
/** Path of the health checks of orchestrators. */
const PROBES = '/health/';
/** Nginx's status for a client that closed the connection before the end of the response; never sent. */
const CLIENT_CLOSED_REQUEST = 499;
/** Upper bounds of the histogram, in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Assigns every request an id: the client's `X-Request-Id` if well-formed, otherwise a new UUID. */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const offered = request.headers['x-request-id'];
  const id = typeof offered === 'string' && isAcceptable(offered) ? offered : randomUUID();
  response.setHeader('X-Request-Id', id);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
}

/** An API key sent in this header by mistake must not appear in the log and the audit trail. */
function isAcceptable(id: string): boolean {
  return WELL_FORMED.test(id) && !holdsApiKey(id);
}

/** The id of a request, from its response's header. */
export function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'));
}

/**
 * The final status of a request for logs and metrics: the status that was sent, or 499 if the client did not wait for the whole response.
 * An event stream ends only when its client disconnects.
 */
export function responseStatusOf(response: Response): number {
  return response.writableFinished || isEventStream(response) ? response.statusCode : CLIENT_CLOSED_REQUEST;
}

/** Records the route of a served page: its path or, for a file, its folder, so that thirty files share one route. */
export function noteServed(request: Request, path: string): void {
  const at = path.lastIndexOf('/');
  request.servedRoute = path.includes('.', at) ? `${path.slice(0, at)}/*` : path;
}

/** The template of the matched route, such as `/v1/pets/:petId` or `/docs/assets/*`. Unlike paths, their number is limited. */
export function routeTemplateOf(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : (request.servedRoute ?? UNMATCHED);
}

/**
 * The method and route template of a request, truncated to the stored length. Without a route, the method is omitted, because it can be
 * anything.
 */
export function operationOf({ method, route }: Pick<RequestLabels, 'method' | 'route'>): string {
  return route === UNMATCHED ? route : `${method} ${route}`.slice(0, 200);
}

export interface RequestLabels {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/**
 * Logs one line per request, except beyond a limit for an address without a valid key, and counts and times every request, for its client
 * as well. All use the route template instead of the path, and no headers, so that no secret is logged.
 */
@Injectable()
export class RequestRecords implements NestMiddleware {
  private readonly requests;
  private readonly durations;
  private readonly refusals;
  /** With a share in ACCESS_LOG, the fraction of a line accumulated since the last one. */
  private earned = 0;

  constructor(
    private readonly logger: AppLogger,
    private readonly settings: Settings,
    private readonly clients: ClientRequests,
    private readonly quota: QuotaService,
    metrics: Metrics,
  ) {
    const labels = ['method', 'route', 'status'] as const;
    this.requests = metrics.tally(
      'http_requests_total',
      'HTTP requests by method, route and status (499 if the client closed the connection first).',
      labels,
    );
    this.durations = metrics.histogram(
      'http_request_duration_seconds',
      'Time from the request’s arrival to the end of its response, in seconds.',
      labels,
      SECONDS,
    );
    this.refusals = metrics.tally(
      'petstore_refusals_total',
      'Requests that were refused, by the code of the Error body, such as invalid_api_key.',
      ['code'],
    );
  }

  use = (request: Request, response: Response, next: NextFunction): void => {
    const { arrivedAt = performance.now() } = request;
    // Stored in the request, because it is unknown once the socket is closed.
    addressOf(request);
    response.on('close', () => {
      const { method } = request;
      const labels = { method, route: routeTemplateOf(request), status: responseStatusOf(response) };
      this.record(request, response, labels, performance.now() - arrivedAt);
    });
    next();
  };

  /** Logs and counts a request with its duration in milliseconds. */
  private record(request: Request, response: Response, labels: RequestLabels, ms: number): void {
    const { caller, refusalCode: code, isUncounted = false } = request;
    this.count(labels, ms / 1_000, code);
    const { method, route, status } = labels;
    const requestId = requestIdOf(response);
    if (caller) {
      const address = status < 400 ? undefined : addressOf(request);
      const operation = operationOf(labels);
      this.clients.note({ caller, operation, status, code, isUncounted, durationMs: ms, requestId, address });
    }
    // Of requests without a client's key, only the number is stored.
    else if (status === 401 || status === 429) this.clients.noteWithoutKey();
    const level = levelOf(route, status);
    if (!this.isLogged(level)) return;
    if (!caller && level !== 'debug') this.quota.limitLines(request);
    if (request.isUnlogged) return;
    const isUnknown = !caller || status === 401;
    const address = isUnknown && status >= 400 ? this.loggedAddress(addressOf(request)) : undefined;
    this.logger.pino[level](
      {
        requestId,
        traceId: request.traceIds?.traceId,
        spanId: request.traceIds?.spanId,
        clientId: caller?.clientId,
        address,
        method,
        route,
        status,
        code,
        durationMs: Math.round(ms * 1000) / 1000,
        aborted: (response.closed && !response.writableFinished) || undefined,
      },
      requestLine(method, route, status, `${Math.round(ms)} ms`, code),
    );
  }

  /** The address of a caller without a valid key for the log; undefined if LOG_ADDRESSES is off. */
  loggedAddress(address: string | undefined): string | undefined {
    return this.settings.logAddresses === 'on' ? address : undefined;
  }

  /** Whether to log a request, according to LOG_LEVEL and ACCESS_LOG. Call it once per request. */
  isLogged(level: 'debug' | 'info' | 'error'): boolean {
    const { accessLog } = this.settings;
    if (accessLog === 0 || !this.logger.pino.isLevelEnabled(level)) return false;
    if (accessLog === 1 || level === 'error') return true;
    this.earned += accessLog;
    if (this.earned < 1) return false;
    this.earned -= 1;
    return true;
  }

  /** Counts a request; `code` is that of its Error body, undefined for any other response. */
  count({ method, route, status }: RequestLabels, seconds: number, code: string | undefined): void {
    this.requests.add(method, route, status);
    this.durations.observe({ method, route, status }, seconds);
    if (code !== undefined) this.refusals.add(code);
  }
}

/** The log message of a request, such as `GET /v1/pets 401 2 ms missing_api_key`; undefined parts are omitted. */
export function requestLine(...parts: readonly (string | number | undefined)[]): string {
  let line = '';
  for (const part of parts) if (part !== undefined) line += line === '' ? part : ` ${part}`;
  return line;
}

/** The log level: debug for probes, error for any other 500 and above, otherwise info, because clients decide how often it occurs. */
function levelOf(route: string, status: number): 'debug' | 'info' | 'error' {
  if (route.startsWith(PROBES)) return 'debug';
  return status >= 500 ? 'error' : 'info';
}

/** Replaces the part of a target that contains an API key. */
const REDACTED = 'redacted';

/** Adds trace ids to a request's log lines, and names the span created by node:http instrumentation. */
export function traceRequest(request: Request, response: Response, next: () => void): void {
  const api = tracing();
  const { arrivedIn } = request;
  const span = arrivedIn && api?.trace.getSpan(arrivedIn);
  if (!api || !span) {
    runWithTraceIds(request, callersTraceOf(request), next);
    return;
  }
  // Before the instrumentation ends its span.
  response.prependListener('close', () => describe(span, request));
  const { traceId, spanId } = span.spanContext();
  const ids = api.isSpanContextValid(span.spanContext()) ? { traceId, spanId } : callersTraceOf(request);
  api.context.with(arrivedIn, () => runWithTraceIds(request, ids, next));
}

/** Names a span after its route, and removes a key that a client put into the target by mistake, because spans leave the machine. */
function describe(span: Span, request: Request): void {
  const [path = ''] = request.originalUrl.split('?', 1);
  const query = request.originalUrl.slice(path.length);
  if (holdsApiKey(path)) span.setAttribute('url.path', REDACTED);
  if (holdsApiKey(query)) span.setAttribute('url.query', REDACTED);
  if (request.route === undefined) return;
  const route = routeTemplateOf(request).replaceAll(/[:*](\w+)/g, '{$1}');
  span.updateName(`${request.method} ${route}`).setAttribute('http.route', route);
}
