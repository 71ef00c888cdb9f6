import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { rowOf } from '../../core/errors/raw-response.js';
import { endEventStream, isEventStream } from '../../core/event-stream.js';
import { abandon } from '../../core/requests-in-flight.js';
import { keepAddress, readForwardedFor } from '../../core/request-address.js';
import { Clock } from '../../core/time/clock.js';
import { noteArrival } from '../../core/tracing.js';
import { TransientMap } from '../../core/transient-map.js';
import { EventStreams } from './event-streams.js';
import {
  afterReading,
  pauseReading,
  isReadingPaused,
  resumeParsing,
  resumeReading,
  restOf,
  stopAfterHead,
} from './socket-reading.js';
import { handleTogether } from './arrived-requests.js';
import { Overload } from './overload.js';
import { ParserRefusals } from './parser-refusals.js';
import { readRequestLine } from './malformed-request.middleware.js';
import { hasUnreadBody } from './service-server.js';
import { checkReading, type Reading } from './slow-readers.js';
import { WaitingBytes } from './waiting-bytes.js';

/** Interval between checks of all connections for clients that read too slowly, in milliseconds. */
const SWEEP_MS = 1_000;
/**
 * Maximum time between checks of an event stream, in milliseconds; the minimum is half. The time is random, so that streams that started
 * together are not checked together.
 */
const MAX_UNCHECKED_MS = 60_000;
/** Maximum number of event streams checked per second, or a twentieth of all connections if that is more. Many may be due at once. */
const MAX_CHECKED = 100;
/** Approximate memory of a request's and response's objects, in bytes. */
const MESSAGES_BYTES = 4_096;
/** Number of connections that continue in one turn of the event loop. Node accepts few new ones per turn, so turns must be short. */
const MAX_CONTINUING = 16;

/** A request that waits for the previous response. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

interface Connection {
  /** The response in progress; on an idle connection the last response, until the next check. */
  current: ServerResponse | undefined;
  /** The response whose `close` event has a listener, because something waits for its end. */
  tracked: ServerResponse | undefined;
  /** The next request. While it waits, nothing more is read from the connection, and the parser stops after its head. */
  readonly waiting: Waiting[];
  /** Whether a request waits for the previous response. */
  hasPipelinedRequest: boolean;
  /** Bytes read beyond the head of the waiting request. */
  rest: Buffer | undefined;
  /** Whether Node's time limit for the waiting request has passed, in which case it starts again. */
  isLate: boolean;
  /** Called once all arrived requests have their responses. While it is set, nothing more is read from the connection. */
  last: (() => void) | undefined;
  reading: Reading | undefined;
  /** When an event stream is checked next, as a time of the monotonic clock. */
  checkAt: number;
  arrived: number;
}

function isIdle({ current, waiting }: Connection): boolean {
  return (!current || current.closed) && waiting.length === 0;
}

/** Whether a response has ended whose last bytes may still be in memory. */
function isSending({ current, last }: Connection): boolean {
  return last !== undefined || (current?.writableEnded === true && !current.closed);
}

/**
 * Handles the requests of each connection one after the other, in the order in which they were sent.
 * - A client that sends thousands of requests at once does not delay other clients.
 * - A request is carried out only after the responses to all requests before it (RFC 9112 section 9.3.2).
 * - At most one response per connection is in memory, and it is released when the socket closes. Node does not notify a
 *   response that waits behind another one when their socket closes.
 */
@Injectable()
export class Connections {
  private readonly connections = new TransientMap<Socket, Connection>();
  private readonly waitingBytes = new WaitingBytes();

  /** Connections that may continue, the longest waiting first. */
  private readonly continuing = new TransientMap<Socket, Connection>();
  private isContinuing = false;

  private handle: RequestListener | undefined;
  private draining = false;

  constructor(
    private readonly settings: Settings,
    private readonly refusals: ParserRefusals,
    private readonly overload: Overload,
    private readonly streams: EventStreams,
    private readonly clock: Clock,
  ) {}

  /** Replaces the server's `request` listener, and calls the original for one request of a connection at a time. */
  attachTo(server: Server): void {
    const [handle] = server.listeners('request') as RequestListener[];
    if (!handle) throw new Error('The server has no request listener.');
    this.handle = handleTogether(handle);
    server.removeListener('request', handle);
    const opened = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(opened, (socket: Socket) => this.open(socket));
    const onRequest: RequestListener = (request, response) => {
      readRequestLine(request);
      readForwardedFor(request);
      noteArrival(request);
      this.onRequest(request, response);
    };
    server.on('request', onRequest);
    // Otherwise Node would send 100 Continue before any guard has seen the head (RFC 9110 section 10.1.1).
    server.on('checkContinue', onRequest);
    // Without this listener, Node would send 417 for any other `Expect`, which the service ignores.
    server.on('checkExpectation', onRequest);
    server.once('listening', () => {
      const timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
      server.once('close', () => clearInterval(timer));
    });
    server.on('clientError', (error: Error, socket: Socket) => this.reject(error, socket));
    // Without this listener, Node would close a connection when its keep-alive timer fires, before reading the data that has arrived.
    server.on('timeout', (socket: Socket) => void this.timeOut(socket));
    // CONNECT asks a proxy to connect to a target (RFC 9110 section 9.3.6). The service is not a proxy and refuses every target. The empty
    // Allow says that such a target supports no methods (section 10.2.1).
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      this.refuseInOrder(socket, HTTP_ERRORS.method_not_allowed, { Allow: '' });
    });
  }

  /** From now on, the last response on each connection has `Connection: close`, so that its client sends no more. */
  drain(): void {
    this.draining = true;
    for (const [, { current, waiting }] of this.connections.all())
      if (current && !current.closed && !current.headersSent && waiting.length === 0)
        current.setHeader('Connection', 'close');
  }

  /**
   * Reads the data that has arrived on the server's connections without a request, then closes those that still have none. Idle connections
   * that have sent something before stay open while a response is being sent on another one.
   */
  async closeIdle(server: Server): Promise<void> {
    await afterReading();
    const connections = this.connections.all();
    for (const [socket, connection] of connections)
      if (isIdle(connection) && !connection.last && socket.bytesRead === 0) socket.destroy();
    // Only Node knows whether it has read the start of a message. It also closes connections whose response has ended, but is not sent yet.
    if (!connections.some(([, connection]) => isSending(connection))) server.closeIdleConnections();
  }

  /** Releases a connection for an upgrade; returns false if earlier requests have no response yet. */
  abandon(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    return !!connection && isIdle(connection) && this.connections.delete(socket);
  }

  /** Ends all event streams, which would otherwise last until the shutdown timeout. */
  endEventStreams(): void {
    for (const [, { current }] of this.connections.all())
      if (current && isEventStream(current)) endEventStream(current);
  }

  /** Whether all connections are closed, except upgraded connections, which no longer carry HTTP. */
  get areClosed(): boolean {
    return this.connections.size === 0;
  }

  /** Closes a connection that was idle for too long, or whose handler has set a timeout without listening for it. */
  private async timeOut(socket: Socket): Promise<void> {
    const { current } = this.connections.get(socket) ?? {};
    if (current && !current.closed) {
      if ([current, current.req].some((message) => message.listenerCount('timeout') > 0)) return;
    } else {
      const { bytesRead } = socket;
      await afterReading();
      if (socket.bytesRead > bytesRead) return;
    }
    socket.destroy();
  }

  /** Handles a `clientError`: takes the bytes that the parser has not read yet, or refuses a rejected or late message. */
  private reject(error: NodeJS.ErrnoException, socket: Socket): void {
    const row = rowOf(error);
    const connection = this.connections.get(socket);
    const rest = restOf(error);
    if (connection && rest) {
      connection.rest = rest;
      this.waitingBytes.add(socket, rest.buffer.byteLength + sizeOf(connection.waiting));
    } else if (error.code === 'ECONNRESET' || !socket.writable || this.isBrokenOff(connection, error))
      socket.destroy();
    else if (connection && row === HTTP_ERRORS.request_timeout) void this.refuseLate(connection, socket);
    else this.refuse(connection, socket, row);
  }

  /** Whether the client has ended its side of the connection in the middle of a body. */
  private isBrokenOff(connection: Connection | undefined, { code }: NodeJS.ErrnoException): boolean {
    return code === 'HPE_INVALID_EOF_STATE' && connection !== undefined && !!unreadRequestOf(connection);
  }

  /** Refuses the body of the request in progress, or the data that follows the last request. */
  private refuse(connection: Connection | undefined, socket: Socket, row: ErrorRow): void {
    const current = connection?.current;
    if (current && !current.closed && hasUnreadBody(current.req)) {
      // A response that has started may finish; one that never ends is aborted.
      if (current.headersSent) setImmediate(() => current.writableEnded || socket.destroy());
      else this.refusals.refuseInPlace(current, row);
    } else this.refuseInOrder(socket, row);
  }

  /** Refuses a late message, unless the service itself stopped reading it or had not yet read the data that arrived in time. */
  private async refuseLate(connection: Connection, socket: Socket): Promise<void> {
    const { arrived } = connection;
    const body = unreadRequestOf(connection);
    await afterReading();
    if (socket.destroyed || (body && !hasUnreadBody(body))) return;
    if (connection.hasPipelinedRequest) connection.isLate = true;
    else if (body || connection.arrived === arrived)
      this.refuse(connection, socket, HTTP_ERRORS.request_timeout);
    else this.timeAgain(connection, socket);
  }

  /** Restarts the time limit for the body of an arrived request, because Node reports each message as late only once. */
  private timeAgain(connection: Connection, socket: Socket): void {
    const request = unreadRequestOf(connection);
    if (!request) return;
    const check = (): void => {
      if (hasUnreadBody(request) && !socket.destroyed) void this.refuseLate(connection, socket);
    };
    setTimeout(check, this.settings.requestTimeoutMs).unref();
  }

  /** Refuses after the responses to all arrived requests. Nothing more is read, so a waiting request without its body is dropped. */
  refuseInOrder(socket: Socket, row: ErrorRow, headers = {}): void {
    const connection = this.connections.get(socket);
    const [last] = connection?.waiting.at(-1) ?? [];
    if (last && hasUnreadBody(last)) connection?.waiting.pop();
    const refuse = (): void => this.refusals.refuse(socket, row, headers);
    if (!connection || isIdle(connection)) {
      refuse();
      return;
    }
    connection.last ??= refuse;
    this.watch(connection, socket);
    pauseReading(socket);
  }

  private open(socket: Socket): Connection {
    const connection: Connection = {
      current: undefined,
      tracked: undefined,
      waiting: [],
      hasPipelinedRequest: false,
      rest: undefined,
      isLate: false,
      last: undefined,
      reading: undefined,
      checkAt: 0,
      arrived: 0,
    };
    this.connections.set(socket, connection);
    keepAddress(socket);
    stopAfterHead(socket, () => connection.hasPipelinedRequest);
    socket.once('close', () => {
      this.waitingBytes.delete(socket);
      if (connection.current) abandon(connection.current);
      this.connections.delete(socket);
    });
    return connection;
  }

  private onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.connections.get(socket) ?? this.open(socket);
    connection.arrived += 1;
    if (!isIdle(connection)) {
      connection.waiting.push([request, response]);
      this.watch(connection, socket);
      connection.hasPipelinedRequest = true;
      pauseReading(socket);
    } else if (hasUnreadBody(request)) {
      // Only after the parser has processed the bytes after the head, because if it rejects them, there is no request.
      connection.waiting.push([request, response]);
      process.nextTick(() => this.next(connection, socket));
    } else {
      this.start(connection, request, response);
    }
  }

  private start(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.current = response;
    connection.checkAt = this.nextCheck();
    if (this.draining && connection.waiting.length === 0) response.setHeader('Connection', 'close');
    request.arrivedAt = performance.now();
    this.handle?.(request, response);
  }

  /** Continues when the response in progress is closed. Called only when something waits, so that most responses need no listener. */
  private watch(connection: Connection, socket: Socket): void {
    const { current } = connection;
    if (!current || current.closed || connection.tracked === current) return;
    connection.tracked = current;
    current.once('close', () => this.onResponse(connection, socket));
  }

  private onResponse(connection: Connection, socket: Socket): void {
    // In a later turn of the event loop, so that other connections are served in between.
    if (connection.waiting.length > 0 && socket.writable) {
      this.continuing.set(socket, connection);
      this.continueLater();
    } else if (connection.last) connection.last();
    else resumeReading(socket);
  }

  private continueLater(): void {
    if (this.isContinuing) return;
    this.isContinuing = true;
    setImmediate(() => this.continueNext());
  }

  private continueNext(): void {
    this.isContinuing = false;
    for (const [socket, connection] of this.continuing.upTo(MAX_CONTINUING)) {
      this.continuing.delete(socket);
      this.next(connection, socket);
    }
    if (this.continuing.size > 0) this.continueLater();
  }

  private next(connection: Connection, socket: Socket): void {
    if (socket.destroyed) return;
    if (connection.hasPipelinedRequest && connection.waiting.length === 1)
      this.continueReading(connection, socket);
    const waiting = connection.waiting.shift();
    if (!waiting) return;
    this.start(connection, ...waiting);
    if (isReadingPaused(socket)) this.watch(connection, socket);
  }

  /**
   * Reads the body of the request that waited, and the next head. A client may end its side after its last request. Node would then close
   * the connection without the response, so this is read only after the response.
   */
  private continueReading(connection: Connection, socket: Socket): void {
    const { rest, isLate } = connection;
    Object.assign(connection, { hasPipelinedRequest: false, rest: undefined, isLate: false });
    this.waitingBytes.delete(socket);
    if (rest) resumeParsing(socket, rest);
    if (isLate) this.timeAgain(connection, socket);
    if (!connection.hasPipelinedRequest && !connection.last && unreadRequestOf(connection))
      resumeReading(socket);
  }

  private sweep(): void {
    const now = performance.now();
    let left = Math.max(MAX_CHECKED, this.connections.size / 20);
    for (const [socket, connection] of this.connections.all()) {
      // The last response of an idle connection must not stay in memory.
      if (connection.current?.closed) connection.current = undefined;
      const { current, reading } = connection;
      connection.reading =
        current && checkReading(socket, current, reading, now, this.settings.responseTimeoutMs);
      if (left <= 0 || connection.checkAt > this.clock.steady() || !current || !isEventStream(current))
        continue;
      left -= 1;
      connection.checkAt = this.nextCheck();
      void this.streams.check(current as Response);
    }
    this.overload.check(now);
  }

  private nextCheck(): number {
    return this.clock.steady() + (MAX_UNCHECKED_MS * (1 + Math.random())) / 2;
  }
}

/** The last arrived request, if its body has not been read. */
function unreadRequestOf({ waiting, current }: Connection): IncomingMessage | undefined {
  const request = waiting.at(-1)?.[0] ?? (current?.closed ? undefined : current?.req);
  return request && hasUnreadBody(request) ? request : undefined;
}

/** Memory of the requests' heads, in bytes. */
function sizeOf(waiting: readonly Waiting[]): number {
  const texts = waiting.flatMap(([{ rawHeaders, url = '' }]) => [url, ...rawHeaders]);
  return texts.reduce((sum, { length }) => sum + length, waiting.length * MESSAGES_BYTES);
}
