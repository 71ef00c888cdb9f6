import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import { RateLimitHeaders } from '../../auth/rate-limit-headers.js';
import { declaredOn } from '../../core/declared-operation.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { type Countable, RequestsInFlight, isCountable } from '../../core/requests-in-flight.js';
import { EventLoopLag } from './event-loop-lag.js';
import { routesOf } from '../operations/registered-routes.js';
import { announcesBody } from '../chain/body.guard.js';
import { type ReportingRequest, discardBody, hasUnreadBody } from './service-server.js';

/** An overload has ended after this time without a refusal, in milliseconds. */
const QUIET_MS = 5_000;
/** `Retry-After` cycles from 1 to this many seconds, so that clients do not all return at once. */
const MAX_RETRY_AFTER_S = 3;
/** This many requests are always admitted, because the rate of an idle service says nothing about its capacity. */
const ALWAYS_ACCEPTED = 500;
/**
 * Beyond those, as many requests are admitted as get their response within this time, in seconds (Little's law). It is less than the second
 * after which clients give up.
 */
const MAX_WAIT_S = 0.75;
/**
 * Interval between two refusals, in milliseconds. Many clients repeat a refused request immediately, and each refusal costs as much as a
 * cached response: sent immediately, refusals to 2,000 connections left 4 % of the capacity for accepted requests.
 */
const REFUSAL_INTERVAL_MS = 1;
/** Maximum time that a refusal waits, in milliseconds. If more refusals wait than can be sent in this time, the interval is shorter. */
const MAX_REFUSAL_WAIT_MS = 1_000;
/** Methods whose handlers do not wait for a body. */
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The reason of a refusal, in the metric and the log. */
type Reason = 'in_flight' | 'event_loop_lag';

/**
 * Refuses requests that would wait too long: when one more request in flight would delay all of them, or when the event loop falls behind.
 * Refused requests do not count toward a quota, and only the start and end of an overload are logged.
 */
@Injectable()
export class Overload implements NestMiddleware {
  private readonly logger = new Logger('Overload');
  private readonly inFlight = new RequestsInFlight();
  private readonly lag;
  private readonly shedRequests;
  private exempt: ReadonlySet<string> | undefined;
  private refused = 0;
  private lastRefusedAt = 0;
  /** When the last of the waiting refusals is to be sent, as a value of `performance.now()`. */
  private lastScheduledAt = 0;
  private startedAt: number | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly rateLimit: RateLimitHeaders,
    metrics: Metrics,
  ) {
    this.lag = new EventLoopLag(settings.maxEventLoopLagMs);
    this.shedRequests = metrics.counter(
      'http_requests_shed_total',
      'Requests refused with 503 because of overload.',
      ['reason'],
    );
    // An increase needs a sample before the first refusal.
    for (const reason of ['in_flight', 'event_loop_lag']) this.shedRequests.inc({ reason }, 0);
    metrics.gauge('http_requests_in_flight', 'Requests in progress.', [], () => this.inFlight.count);
    metrics.gauge(
      'http_event_loop_lag_seconds',
      'Delay of the event loop at the latest probe, by which overload is detected.',
      [],
      () => this.lag.ms / 1_000,
    );
  }

  /**
   * Admits a request, or refuses it with 503. An admitted request is in flight from the end of its body until the head of its response is
   * sent.
   */
  use = (request: Request, response: Response, next: NextFunction): Promise<void> | undefined => {
    if (this.settings.maxEventLoopLagMs > 0) this.lag.watch();
    const reason = this.reason();
    if (reason !== undefined && !this.isExempt(request)) return this.refuse(request, response, reason);
    if (reason === undefined && isCountable(response)) this.count(request, response);
    next();
    return undefined;
  };

  /** Logs the end of an overload. Call it every second; `now` is a value of `performance.now()`. */
  check(now: number): void {
    if (this.startedAt === undefined || now - this.lastRefusedAt < QUIET_MS) return;
    const seconds = Math.ceil((this.lastRefusedAt - this.startedAt) / 1_000);
    this.logger.log(`No longer overloaded: ${this.refused} requests were refused with 503 in ${seconds} s`);
    this.startedAt = undefined;
    this.refused = 0;
  }

  private reason(): Reason | undefined {
    const { maxRequestsInFlight, maxEventLoopLagMs } = this.settings;
    if (maxRequestsInFlight > 0 && this.areInFlight(maxRequestsInFlight)) return 'in_flight';
    return maxEventLoopLagMs > 0 && this.lag.isBlocked() ? 'event_loop_lag' : undefined;
  }

  /** Whether the limit of requests in flight is reached; `limit` is its maximum. */
  private areInFlight(limit: number): boolean {
    const { count } = this.inFlight;
    if (count < ALWAYS_ACCEPTED && count < limit) return false;
    return count >= limit || count >= this.inFlight.completedPerSecond * MAX_WAIT_S;
  }

  private isExempt({ app, path }: Request): boolean {
    // At the first refusal, every route is registered.
    this.exempt ??= new Set(
      routesOf(app)
        .filter(({ handler }) => declaredOn(handler).isServedUnderOverload)
        .map((route) => route.path),
    );
    return this.exempt.has(path);
  }

  private count(request: Request, response: Response & Countable): void {
    if (hasUnreadBody(request) && !BODILESS.has(request.method))
      (request as Request & ReportingRequest).whenWhole = () => this.inFlight.start(response);
    else this.inFlight.start(response);
  }

  private async refuse(request: Request, response: Response, reason: Reason): Promise<void> {
    // Only the start and end of an overload are logged.
    request.isUnlogged = true;
    request.servedRoute = 'shed';
    const retryAfter = this.logShedding(reason);
    // Bodies of waiting requests are discarded, because thousands would fill the memory.
    const hasBody = announcesBody(request);
    if (hasBody) discardBody(request, response);
    await this.delayRefusal();
    // A small body has arrived with its head but is parsed only afterwards; the connection can then be kept.
    if (hasBody) await setImmediate();
    if (request.socket.destroyed) return;
    const headers = { ...retryAfter, ...(await this.rateLimit.headersFor(request)) };
    const params = { reason: 'it is overloaded' };
    const refusal = new ApiError(HTTP_ERRORS.service_unavailable, { params, headers, isLogged: true });
    writeRefusal(refusal, request, response);
  }

  /** Waits until the next refusal may be sent. */
  private async delayRefusal(): Promise<void> {
    const now = performance.now();
    this.lastScheduledAt = Math.min(
      Math.max(now, this.lastScheduledAt + REFUSAL_INTERVAL_MS),
      now + MAX_REFUSAL_WAIT_MS,
    );
    if (this.lastScheduledAt > now) await pause(this.lastScheduledAt - now);
  }

  /** Counts a refusal; returns its `Retry-After`. */
  private logShedding(reason: Reason): { 'Retry-After': string } {
    this.lastRefusedAt = performance.now();
    if (this.startedAt === undefined) {
      this.startedAt = this.lastRefusedAt;
      this.logger.warn(`Overloaded: ${this.causeOf(reason)}. Further requests are refused with 503`);
    }
    this.refused += 1;
    this.shedRequests.inc({ reason });
    return { 'Retry-After': String(1 + (this.refused % MAX_RETRY_AFTER_S)) };
  }

  private causeOf(reason: Reason): string {
    if (reason === 'in_flight')
      return `${this.inFlight.count} requests are in flight, more than the process can serve soon (MAX_REQUESTS_IN_FLIGHT)`;
    return `the event loop is more than ${this.settings.maxEventLoopLagMs} ms late (MAX_EVENT_LOOP_LAG_MS)`;
  }
}
