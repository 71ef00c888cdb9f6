import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../core/time/clock.js';
import { softwareVersion } from '../core/software-version.js';
import { TookTooLong, withinTime } from '../events/limited-time.js';
import { failureOf } from './attempt-failures.js';
import { bounded, sentTooMuch } from './bounded-connections.js';
import { retryAfterOf } from './retry-schedule.js';
import { type AllowedAddress, WebhookAddresses } from './webhook-addresses.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { signing, webhookSignature } from './webhook-signature.js';

/** Longest time of one attempt, from the look-up of the name to the status of the answer, in milliseconds. */
const ATTEMPT_MS = 15_000;
/** Bytes of an answer's body that are read, and for how long, in milliseconds, so that the connection can be used again; then it is cut. */
const MOST_READ = 4_096;
const READ_MS = 1_000;
/** Interim responses (1xx) before an answer. Node's client takes them without end. */
const MOST_INTERIM = 5;
/** How long a connection stays open between two attempts, in milliseconds, and how many of one receiver. */
const POOL = { keepAlive: true, timeout: 20_000, maxFreeSockets: 2 };

const USER_AGENT = `petstore-webhooks/${softwareVersion()}`;

/** A message on its way to an endpoint, whose secrets sign it: one, and for a while after a rotation those before it. */
export interface Attempt extends Pick<WebhookEndpoint, 'url' | 'secret' | 'previousSecrets'> {
  /** `webhook-id`. */
  readonly messageId: string;
  /** The body, JSON. */
  readonly payload: string;
}

/** How an attempt ended. */
export interface AttemptOutcome {
  /** `gone` when the receiver answered 410, `cut` when the signal aborted it. */
  readonly is: 'delivered' | 'failed' | 'gone' | 'cut';
  /** What the receiver answered; null when it did not. */
  readonly status: number | null;
  /** Why it failed, for people; null when it was delivered. */
  readonly error: string | null;
  /** How long the receiver asks to wait, in milliseconds; 0 when it does not. */
  readonly retryAfter: number;
}

/** What a receiver answered. */
interface ReceiverAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Posts messages to endpoints: signed, once, to allowed addresses alone; it follows no redirect and uses no proxy. */
@Injectable()
export class WebhookSender implements OnModuleDestroy {
  private readonly http = bounded(new HttpAgent(POOL));
  private readonly https = bounded(new HttpsAgent(POOL));

  constructor(
    private readonly addresses: WebhookAddresses,
    private readonly clock: Clock,
  ) {}

  onModuleDestroy(): void {
    this.http.destroy();
    this.https.destroy();
  }

  /** Makes one attempt. Never rejects. */
  async send(attempt: Attempt, stopped: AbortSignal): Promise<AttemptOutcome> {
    try {
      // Whatever a connection tells or keeps to itself, an attempt ends when its time is over.
      return this.outcomeOf(await withinTime(ATTEMPT_MS, stopped, (signal) => this.post(attempt, signal)));
    } catch (error) {
      const { retryAfter, status } = { retryAfter: 0, status: null };
      if (stopped.aborted) return { is: 'cut', status, error: 'The service stopped.', retryAfter };
      const why =
        error instanceof TookTooLong ? `No response within ${ATTEMPT_MS / 1_000} s.` : failureOf(error);
      return { is: 'failed', status, error: why, retryAfter };
    }
  }

  private outcomeOf({ status, retryAfter }: ReceiverAnswer): AttemptOutcome {
    if (status >= 200 && status < 300) return { is: 'delivered', status, error: null, retryAfter: 0 };
    const wait = status === 429 || status === 503 ? retryAfterOf(retryAfter, this.clock.now()) : 0;
    const isRedirect = status >= 300 && status < 400;
    const error = `It responded ${status}${isRedirect ? '; redirects are not followed' : ''}.`;
    return { is: status === 410 ? 'gone' : 'failed', status, error, retryAfter: wait };
  }

  private secretsOf({ secret, previousSecrets }: Attempt): string[] {
    return [secret, ...signing(previousSecrets, this.clock.now()).map((previous) => previous.secret)];
  }

  private async post(attempt: Attempt, signal: AbortSignal): Promise<ReceiverAnswer> {
    const url = new URL(attempt.url);
    const addresses = await this.addresses.of(url);
    signal.throwIfAborted();
    return (
      (await this.exchange(attempt, url, addresses, signal)) ??
      // The receiver closed a connection that was kept open just when it was used again: it has hardly read anything.
      (await this.exchange(attempt, url, addresses, signal, false)) ?? { status: 0, retryAfter: undefined }
    );
  }

  /** Undefined when a connection that had been used before was closed without an answer. */
  private exchange(
    attempt: Attempt,
    url: URL,
    addresses: readonly AllowedAddress[],
    signal: AbortSignal,
    mayReuse = true,
  ): Promise<ReceiverAnswer | undefined> {
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
          // The very addresses that were looked at: the name is not resolved again.
          lookup: lookupOf(addresses),
          headers: {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(payload),
            'User-Agent': USER_AGENT,
            Accept: '*/*',
            'webhook-id': id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': webhookSignature({ id, timestamp, body: payload }, this.secretsOf(attempt)),
          },
        },
        (response) => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, retryAfter: headers['retry-after'] });
          readAway(response);
        },
      );
      let interim = 0;
      request.on('information', () => {
        interim += 1;
        if (interim === MOST_INTERIM + 1) request.destroy(sentTooMuch());
      });
      // 101: without this the client closes the connection and tells nobody.
      request.on('upgrade', ({ statusCode = 0 }, socket) => {
        socket.destroy();
        resolve({ status: statusCode, retryAfter: undefined });
      });
      request.on('close', () => reject(closedWithoutAnswer()));
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

/** Reads the body of an answer away, as much as is allowed of it: the status counts, however the body ends. */
function readAway(response: IncomingMessage): void {
  let read = 0;
  const timer = setTimeout(() => response.destroy(), READ_MS).unref();
  response
    .on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > MOST_READ) response.destroy();
    })
    // It was cut, by the receiver or here.
    .on('error', () => undefined)
    .on('close', () => clearTimeout(timer));
}

function closedWithoutAnswer(): Error {
  return Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' });
}

/** Answers the addresses that were found before. */
function lookupOf(addresses: readonly AllowedAddress[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}
