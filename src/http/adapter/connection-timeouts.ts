import type { ServerResponse, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../core/config/settings.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { isEventStream, sendComment } from './event-streams.js';
import { ParserRefusals } from './parser-refusals.js';
import { hasUnreadBody } from './service-server.js';

/** After how long without an event an event stream gets a comment, in milliseconds, as the HTML standard advises (9.2.7). */
const MOST_QUIET_MS = 15_000;

/** A request that has arrived and waits until the request before it is answered. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * What comes next: the client sends the rest of a body (`body`), reads more of a stream (`progress`), or reads a complete
 * answer to its end (`end`); or the service sends the next event of an event stream (`event`).
 */
export type Awaited = 'body' | 'progress' | 'end' | 'event';

/** What is expected, and since when. */
interface Pending {
  readonly response: ServerResponse;
  readonly awaits: Awaited;
  readonly since: number;
  /** How many bytes had left the socket's send buffer at `since`. */
  readonly read: number;
}

/** The state of one open connection. Points in time are values of `performance.now()`. */
export interface Connection {
  /** The response in progress; on an idle connection the last response, until the next check. */
  current: ServerResponse | undefined;
  /** The response whose `close` event has a listener, because something waits for its end. */
  watched: ServerResponse | undefined;
  readonly waiting: Waiting[];
  /** Called once everything that has arrived is answered. While it is set, nothing more is read from the connection. */
  last: (() => void) | undefined;
  /** How many of the received bytes belong to requests that have arrived. */
  bytesRead: number;
  /** When the time for the next head began: when the connection was opened, or when the head began to arrive. */
  headSince: number | undefined;
  pending: Pending | undefined;
}

/** Whether every request that has arrived is answered. */
export function isIdle({ current, waiting }: Connection): boolean {
  return (!current || current.closed) && waiting.length === 0;
}

/**
 * The most bytes that a request head may have. Node limits names and values to 16 KiB, but does not count the white space
 * between them. The bytes that are counted here may include the beginning of the next request, up to one read of 64 KiB.
 */
export const MOST_HEAD_BYTES = 98_304;

/** Size of an empty line before a request, which a server has to ignore (RFC 9112 section 2.2). */
const EMPTY_LINE_BYTES = 2;

/**
 * Ends connections whose client sends a head or a body too slowly, sends a head that is too long, or reads an answer too
 * slowly. A quiet event stream is kept from being taken for dead.
 */
@Injectable()
export class ConnectionTimeouts {
  constructor(
    private readonly settings: Settings,
    private readonly refusals: ParserRefusals,
  ) {}

  /** Checks one connection; to be called every second. `now` is a value of `performance.now()`. */
  check(socket: Socket, connection: Connection, now: number): void {
    // The last response of an idle connection must not stay in memory.
    if (connection.current?.closed) connection.current = undefined;
    const { current } = connection;
    if (isIdle(connection)) this.checkHead(socket, connection, now);
    else if (current) this.checkExchange(socket, connection, current, now);
  }

  /**
   * Ends the connection when the client has not done in time what the exchange waits for. While a stream is sent, the time
   * starts anew whenever the client has read more of it.
   */
  private checkExchange(socket: Socket, connection: Connection, response: ServerResponse, now: number): void {
    const awaits = awaitedOf(socket, response);
    const read = socket.bytesWritten - socket.writableLength;
    const { pending } = connection;
    const isSame =
      pending?.response === response &&
      pending.awaits === awaits &&
      ((awaits !== 'progress' && awaits !== 'event') || pending.read === read);
    if (awaits === undefined) connection.pending = undefined;
    else if (!isSame) connection.pending = { response, awaits, since: now, read };
    else if (now - pending.since >= this.limitOf(awaits)) this.timeOut(socket, response, awaits);
  }

  private timeOut(socket: Socket, response: ServerResponse, awaits: Awaited): void {
    if (awaits === 'event') sendComment(response);
    else this.giveUp(socket, response, awaits);
  }

  private limitOf(awaits: Awaited): number {
    if (awaits === 'event') return MOST_QUIET_MS;
    return awaits === 'body' ? this.settings.requestTimeoutMs : this.settings.responseTimeoutMs;
  }

  private giveUp(socket: Socket, response: ServerResponse, awaits: Awaited): void {
    if (awaits === 'body' && !response.headersSent)
      this.refusals.refuseInPlace(response, HTTP_ERRORS.request_timeout);
    else socket.destroy();
  }

  private checkHead(socket: Socket, connection: Connection, now: number): void {
    const bytes = socket.bytesRead - connection.bytesRead;
    if (bytes > EMPTY_LINE_BYTES) connection.headSince ??= now;
    if (connection.headSince === undefined) return;
    if (bytes > MOST_HEAD_BYTES) this.refusals.refuse(socket, HTTP_ERRORS.headers_too_large);
    else if (now - connection.headSince >= this.settings.headersTimeoutMs)
      this.refusals.refuse(socket, HTTP_ERRORS.request_timeout);
  }
}

/** What the exchange waits for the client to do; undefined while the service works on the answer. */
function awaitedOf(socket: Socket, response: ServerResponse): Awaited | undefined {
  if (response.writableEnded) return 'end';
  if (hasUnreadBody(response.req)) return 'body';
  if (socket.writableLength > 0) return 'progress';
  return isEventStream(response) ? 'event' : undefined;
}
