import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { isIdle, type Awaited, type Connection } from './connection.js';
import { ParserRefusals } from './parser-refusals.js';
import { hasUnreadBody } from './unread-body.js';

/**
 * The most bytes that a request head may have. Node limits names and values to 16 KiB, but does not count the white space
 * between them. The bytes that are counted here may include the beginning of the next request, up to one read of 64 KiB.
 */
export const MOST_HEAD_BYTES = 98_304;

/** Size of an empty line before a request, which a server has to ignore (RFC 9112 section 2.2). */
const EMPTY_LINE_BYTES = 2;

/**
 * Ends connections whose client sends a head or a body too slowly, sends a head that is too long, or reads an answer too
 * slowly.
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
      (awaits !== 'progress' || pending.read === read);
    if (awaits === undefined) connection.pending = undefined;
    else if (!isSame) connection.pending = { response, awaits, since: now, read };
    else if (now - pending.since >= this.limitOf(awaits)) this.giveUp(socket, response, awaits);
  }

  private limitOf(awaits: Awaited): number {
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
  return socket.writableLength > 0 ? 'progress' : undefined;
}
