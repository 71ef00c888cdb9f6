import { Agent as HttpAgent, type ClientRequest, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Settings } from '../core/config/settings.js';
import { Clock } from '../core/time/clock.js';
import { softwareVersion } from '../core/software-version.js';
import { TimeoutError, withTimeout } from '../events/limited-time.js';
import { failureOf } from './attempt-failures.js';
import { bounded, responseTooLarge } from './bounded-connections.js';
import { excerptOf } from './response-excerpt.js';
import { retryAfterOf } from './retry-schedule.js';
import { type AllowedAddress, WebhookAddresses, isPublic } from './webhook-addresses.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { signing, webhookSignature } from './webhook-signature.js';

/** Time limit of an attempt, from the name lookup to the status of the response, in milliseconds. */
const ATTEMPT_MS = 15_000;
/** Maximum number of interim responses (1xx); Node's client accepts any number. */
const MAX_INTERIM = 5;
/** How long connections stay open between attempts, in milliseconds, and how many per receiver. */
const POOL = { keepAlive: true, timeout: 20_000, maxFreeSockets: 2 };

/** A message to send to an endpoint, signed with its secret and, for a time after a rotation, with earlier ones. */
export interface Attempt extends Pick<WebhookEndpoint, 'url' | 'secret' | 'previousSecrets'> {
  readonly messageId: string;
  /** The body, JSON. */
  readonly payload: string;
}

/** The outcome of an attempt. */
export interface AttemptOutcome {
  /** `gone` after a response with status 410, `cut` if the signal aborted it. */
  readonly is: 'delivered' | 'failed' | 'gone' | 'cut';
  /** Status of the response; null if there was none. */
  readonly status: number | null;
  /** Why it failed, for the owner; null if it was delivered. */
  readonly error: string | null;
  /** The delay requested by the receiver, in milliseconds; 0 if none. */
  readonly retryAfter: number;
  /** Time from the name lookup to the status of the response, or to the failure, in milliseconds. */
  readonly durationMs: number;
  /** The start of the response body, sanitized; null if there was no response. */
  readonly response: string | null;
  /** Whether every address of the host was public, so that its owner may read its responses. */
  readonly isPublic: boolean;
}

interface ReceiverResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Resolves once enough of the body was read or the time is up. */
  readonly excerpt: Promise<string>;
  readonly isPublic: boolean;
}

/** A response without an excerpt. */
const WITHOUT_BODY = { retryAfter: undefined, excerpt: Promise.resolve('') };

/** Posts signed messages to endpoints, only at allowed addresses, without following redirects or using a proxy. */
@Injectable()
export class WebhookSender implements OnModuleDestroy {
  private readonly http = bounded(new HttpAgent(POOL));
  private readonly https = bounded(new HttpsAgent(POOL));

  private readonly userAgent: string;

  constructor(
    private readonly addresses: WebhookAddresses,
    private readonly clock: Clock,
    { apiRealm }: Settings,
  ) {
    // A product's name is a token (RFC 9110 section 5.6.2).
    const product = apiRealm.replaceAll(/[^\w!#$%&'*+.^`|~-]+/g, '-');
    this.userAgent = `${product}-webhooks/${softwareVersion()}`;
  }

  onModuleDestroy(): void {
    this.http.destroy();
    this.https.destroy();
  }

  /** Makes one attempt. Never rejects. */
  async send(attempt: Attempt, stopped: AbortSignal): Promise<AttemptOutcome> {
    const startedAt = performance.now();
    const durationMs = (): number => Math.round(performance.now() - startedAt);
    try {
      // An attempt always ends at its time limit.
      const received = await withTimeout(ATTEMPT_MS, stopped, (signal) => this.sendTo(attempt, signal));
      const outcome = { ...this.outcomeOf(received), durationMs: durationMs() };
      return { ...outcome, response: await received.excerpt, isPublic: received.isPublic };
    } catch (error) {
      const none = { status: null, retryAfter: 0, durationMs: durationMs(), response: null, isPublic: false };
      if (stopped.aborted) return { is: 'cut', error: 'The service stopped.', ...none };
      const isLate = error instanceof TimeoutError;
      return {
        is: 'failed',
        error: isLate ? `No response within ${ATTEMPT_MS / 1_000} s.` : failureOf(error),
        ...none,
      };
    }
  }

  private outcomeOf({
    status,
    retryAfter,
  }: ReceiverResponse): Pick<AttemptOutcome, 'is' | 'status' | 'error' | 'retryAfter'> {
    if (status >= 200 && status < 300) return { is: 'delivered', status, error: null, retryAfter: 0 };
    const wait = status === 429 || status === 503 ? retryAfterOf(retryAfter, this.clock.now()) : 0;
    const isRedirect = status >= 300 && status < 400;
    const error = `It responded with ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
    return { is: status === 410 ? 'gone' : 'failed', status, error, retryAfter: wait };
  }

  private secretsOf({ secret, previousSecrets }: Attempt): string[] {
    return [secret, ...signing(previousSecrets, this.clock.now()).map((previous) => previous.secret)];
  }

  private async sendTo(attempt: Attempt, signal: AbortSignal): Promise<ReceiverResponse> {
    const url = new URL(attempt.url);
    const addresses = await this.addresses.of(url, signal);
    signal.throwIfAborted();
    const response =
      (await this.exchange(attempt, url, addresses, signal)) ??
      // The receiver closed an idle connection just as it was reused, so it has hardly read anything. Retry once on a new one.
      (await this.exchange(attempt, url, addresses, signal, false));
    const areAllPublic = addresses.every(({ address }) => isPublic(address));
    return { status: 0, ...WITHOUT_BODY, ...response, isPublic: areAllPublic };
  }

  /** Undefined if a reused connection was closed without a response. */
  private exchange(
    attempt: Attempt,
    url: URL,
    addresses: readonly AllowedAddress[],
    signal: AbortSignal,
    mayReuse = true,
  ): Promise<Omit<ReceiverResponse, 'isPublic'> | undefined> {
    const { messageId: id, payload } = attempt;
    const timestamp = Math.floor(this.clock.now() / 1_000);
    const isTls = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const request: ClientRequest = (isTls ? httpsRequest : httpRequest)(
        url,
        {
          method: 'POST',
          agent: mayReuse
            ? isTls
              ? this.https
              : this.http
            : bounded(isTls ? new HttpsAgent() : new HttpAgent()),
          signal,
          // The verified addresses; the name is not resolved again.
          lookup: lookupOf(addresses),
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(payload),
            'User-Agent': this.userAgent,
            Accept: '*/*',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': webhookSignature({ id, timestamp, body: payload }, this.secretsOf(attempt)),
          },
        },
        (response) => {
          const { statusCode = 0, headers } = response;
          resolve({
            status: statusCode,
            retryAfter: headers['retry-after'],
            excerpt: excerptOf(response),
          });
        },
      );
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim === MAX_INTERIM + 1) request.destroy(responseTooLarge());
      });
      // For 101. Without a listener, the client would close the connection silently.
      request.on('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, ...WITHOUT_BODY });
      });
      request.on('close', () => reject(closedWithoutResponse()));
      request.on('error', (error) => {
        const isStale =
          mayReuse && request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET';
        if (isStale && !signal.aborted) resolve(undefined);
        else reject(error);
      });
      request.end(payload);
    });
  }
}

function closedWithoutResponse(): Error {
  return Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' });
}

/** Resolves any name to addresses that were found before. */
function lookupOf(addresses: readonly AllowedAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
