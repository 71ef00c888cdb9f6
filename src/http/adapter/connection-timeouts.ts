import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { isIdle, type Awaited, type Connection } from './connection.js';
import { ParserRefusals } from './parser-refusals.js';
import { hasUnreadBody } from './unread-body.js';

/**
 * Bytes of one head at most. Node limits names and values to 16 KiB, but counts no white space between them; and what has
 * arrived may hold the beginning of the next request, up to one read of 64 KiB.
 */
export const MOST_HEAD_BYTES = 98_304;

/** An empty line in front of a request is to be ignored (RFC 9112 section 2.2). */
const EMPTY_LINE_BYTES = 2;

/** Ends connections whose client sends a head or a body, or reads an answer, too slowly or without end. */
@Injectable()
export class ConnectionTimeouts {
  constructor(
    private readonly settings: Settings,
    private readonly refusals: ParserRefusals,
  ) {}

  /** Looks at one connection; call it every second. `now` is of `performance.now()`. */
  check(socket: Socket, connection: Connection, now: number): void {
    // An idle connection keeps nothing of its last request.
    if (connection.current?.closed) connection.current = undefined;
    const { current } = connection;
    if (isIdle(connection)) this.checkHead(socket, connection, now);
    else if (current) this.checkExchange(socket, connection, current, now);
  }

  /** What a client does not send, or read, in time ends its connection; a stream may go on while it is read. */
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

/** What an exchange waits for its client to do; undefined while it is the service's turn. */
function awaitedOf(socket: Socket, response: ServerResponse): Awaited | undefined {
  if (response.writableEnded) return 'end';
  if (hasUnreadBody(response.req)) return 'body';
  return socket.writableLength > 0 ? 'progress' : undefined;
}
