import { Injectable, Logger } from '@nestjs/common';
import { InjectThrottlerStorage } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { ADMITTED } from '../core/execution-context.js';
import { Clock } from '../core/time/clock.js';
import type { OperationLimit } from '../core/declared-operation.js';
import { DomainEvents } from '../events/domain-events.js';
import { Metrics } from '../core/metrics/metrics.js';
import { type DayCount, QuotaJournal } from './memory/quota-journal.js';
import {
  type QuotaRequest,
  type QuotaSubject,
  type QuotaVerdict,
  type QuotaWindow,
  labelOf,
  quotaHeaders,
  requestOf,
  violatedWindow,
} from './quota.js';
import { QuotaStore } from './quota-store.js';
import { ADDRESS_LIMIT_PER_MINUTE } from './plans.js';
import { clientIdOfSubject, isAddress, quotaSubjectOf } from './quota-policy.js';
import { refusalOf, refusalOfFailure } from './quota-refusals.js';
import { AddressLines, type CountedRefusal, QuotaThresholds, isNoteworthy } from './quota-reports.js';
import { API_KEY_BANNED, QUOTA_THRESHOLD } from './throttling.events.js';
import { windowsOfLimit } from './uncounted.decorator.js';

/** Decides each request with the store, sends the rate-limit headers, and throws if the request is refused. */
@Injectable()
export class QuotaService {
  private readonly verdicts;
  private readonly thresholds = new QuotaThresholds();
  private readonly logger = new Logger('Requests');
  /** Refusals of addresses beyond their limit. */
  private readonly refused = new AddressLines();
  /** Requests without a valid key that do not count for their address. */
  private readonly uncounted = new AddressLines();

  constructor(
    @InjectThrottlerStorage() private readonly store: QuotaStore,
    private readonly journal: QuotaJournal,
    private readonly events: DomainEvents,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.verdicts = metrics.tally(
      'petstore_quota_verdicts_total',
      'Requests that were admitted, refused by the quota, refused because the key is banned, or not counted, by plan.',
      ['plan', 'verdict'],
    );
  }

  /**
   * Counts a request in the given windows, by default the caller's minute and day; resolves to true, as a guard. Rejects with
   * rate_limit_exceeded, daily_quota_exceeded or api_key_banned, or service_unavailable if the counters cannot be read; nothing is counted
   * then.
   */
  take(request: Request, response: Response, windows?: QuotaWindow[]): Promise<boolean> {
    const subject = quotaSubjectOf(request);
    const decided = this.decide(requestOf(subject, windows));
    // The in-memory store decides synchronously, and each await costs time.
    return decided instanceof Promise
      ? decided.then((verdict) => this.apply(verdict, subject, request, response, windows))
      : this.apply(decided, subject, request, response, windows);
  }

  /** Sends the headers of a verdict. Returns a rejected promise for a refusal, because throwing it takes longer than deciding. */
  private apply(
    verdict: QuotaVerdict,
    subject: QuotaSubject,
    request: Request,
    response: Response,
    windows: QuotaWindow[] | undefined,
  ): Promise<boolean> {
    const headers = quotaHeaders(verdict);
    setHeaders(response, headers);
    this.verdicts.add(subject.plan, labelOf(verdict));
    if (verdict.banBegins || verdict.windows.some(isNoteworthy)) this.publish(subject, verdict, windows);
    if (isAddress(subject)) request.isUnlogged = !this.isLogged(subject, verdict);
    return verdict.admitted ? ADMITTED : Promise.reject(refusalOf(verdict, headers['Retry-After'] ?? '1'));
  }

  /**
   * Admits a request of an `@Uncounted()` operation. It counts only toward the operation's own limit, and its headers show the caller's
   * quota and ban without changing them. A refusal is not a strike, and a banned key is admitted, so that its owner can see the ban. Throws
   * rate_limit_exceeded with the headers of the operation's limit, api_key_banned if the operation refuses banned keys, or
   * service_unavailable.
   */
  async takeUncounted(request: Request, response: Response, limit: OperationLimit): Promise<boolean> {
    const subject = quotaSubjectOf(request);
    const verdict = await this.decide({
      subject: subject.id,
      isClient: subject.perDay !== undefined,
      windows: windowsOfLimit(limit, subject),
    });
    this.verdicts.add(subject.plan, verdict.admitted ? 'uncounted' : 'refused');
    const violated = violatedWindow(verdict);
    const checked = violated ? { ...verdict, windows: [violated] } : await this.peek(subject);
    const isRefused =
      !verdict.admitted || (limit.refusesBanned === true && checked.bannedUntil !== undefined);
    const headers = quotaHeaders({ ...checked, admitted: !isRefused });
    setHeaders(response, headers);
    request.isUncounted = !isRefused;
    if (isRefused) throw refusalOf(checked, headers['Retry-After'] ?? '1', `minute ${limit.what}`);
    return true;
  }

  private decide(request: QuotaRequest): QuotaVerdict | Promise<QuotaVerdict> {
    try {
      const decided = this.store.take(request, this.clock.now());
      if (!(decided instanceof Promise)) return decided;
      return decided.catch((error: unknown) => {
        throw refusalOfFailure(error);
      });
    } catch (error) {
      return Promise.reject(refusalOfFailure(error));
    }
  }

  /** The current windows of a subject and the ban of its key, without counting. Throws service_unavailable. */
  async peek(subject: QuotaSubject): Promise<QuotaVerdict> {
    try {
      return await this.store.peek(requestOf(subject), this.clock.now());
    } catch (error) {
      throw refusalOfFailure(error);
    }
  }

  /** Daily counts of subjects since a time (ms since the Unix epoch), up to about a second old. */
  days(subjectIds: readonly string[], since: number): Promise<DayCount[]> {
    return this.journal.days(subjectIds, since);
  }

  /** Lifts the ban of a key and clears its strikes. Throws service_unavailable if that cannot be stored. */
  async unban(keyId: string, subjectId: string): Promise<void> {
    try {
      await this.store.unban(keyId, subjectId, this.clock.now());
    } catch (error) {
      throw refusalOfFailure(error, 'the ban cannot be lifted');
    }
  }

  /**
   * Counts a malformed request for its address; returns the headers, and whether to log it. It is refused as malformed even beyond the
   * limit.
   */
  async countRefusal(address: QuotaSubject): Promise<CountedRefusal> {
    const verdict = await this.decide(requestOf(address));
    this.verdicts.add(address.plan, labelOf(verdict));
    const headers = quotaHeaders({ ...verdict, admitted: true });
    return { headers, isLogged: this.isLogged(address, verdict) };
  }

  /** Beyond its limit, an address gets one log line per minute. */
  private isLogged(subject: QuotaSubject, { admitted, at }: QuotaVerdict): boolean {
    return admitted || !isAddress(subject) || this.refused.count(subject, at) === 1;
  }

  /** Counts a refused request like `countRefusal`, sets the headers, and marks whether to log the request. */
  async noteRefusal(request: Request, response: Response): Promise<void> {
    const { headers, isLogged } = await this.countRefusal(quotaSubjectOf(request));
    setHeaders(response, headers);
    request.isUnlogged = !isLogged;
  }

  /** Sets the current headers without counting, and limits logging, for a request that fails before it is counted. */
  async noteFailure(request: Request, response: Response): Promise<void> {
    this.limitLines(request);
    setHeaders(response, await this.headersFor(quotaSubjectOf(request)));
  }

  /**
   * Limits logging of a request that has no valid key and does not count for its address, such as one for a page: at most the address's
   * limit per minute. Has no effect if already decided.
   */
  limitLines(request: Request): void {
    const address = quotaSubjectOf(request);
    if (request.isUnlogged !== undefined || !isAddress(address)) return;
    const lines = this.uncounted.count(address, this.clock.now());
    request.isUnlogged = lines > ADDRESS_LIMIT_PER_MINUTE;
    if (lines === ADDRESS_LIMIT_PER_MINUTE + 1)
      this.logger.log(
        'An address without a valid key has reached the limit of logged requests; the rest of this minute appears only in the metrics',
      );
  }

  /** Adds the address's current headers to a response that is sent without any, for modules' middlewares. */
  showByDefault = async (request: Request, response: Response, next: () => void): Promise<void> => {
    const headers = await this.headersFor(quotaSubjectOf(request)).catch(() => ({}));
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => Response;
    // Every way to send a response calls this.
    response.writeHead = (...args: unknown[]) => {
      if (!response.hasHeader('X-RateLimit-Limit')) setHeaders(response, headers);
      return writeHead(...args);
    };
    next();
  };

  /** The current headers of a subject, without counting. */
  async headersFor(subject: QuotaSubject): Promise<Readonly<Record<string, string>>> {
    return quotaHeaders({ ...(await this.peek(subject)), admitted: true });
  }

  /** Publishes the start of a ban and reached thresholds. An address has no client to notify. */
  private publish(
    { id, keyId, perDay, clientId = clientIdOfSubject(id) }: QuotaSubject,
    { bannedUntil = 0, banBegins, windows }: QuotaVerdict,
    ofRoute?: readonly QuotaWindow[],
  ): void {
    if (clientId === undefined || perDay === undefined) return;
    if (banBegins && keyId !== undefined)
      this.events.publish(API_KEY_BANNED, {
        keyId,
        clientId,
        bannedUntil: new Date(bannedUntil).toISOString(),
      });
    for (const [at, window] of windows.entries()) {
      // Windows of a route are not part of the client's quota.
      if (ofRoute && ofRoute[at]?.key !== id) continue;
      for (const reached of this.thresholds.reached(clientId, window))
        this.events.publish(QUOTA_THRESHOLD, reached);
    }
  }
}

function setHeaders(response: Response, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
}
