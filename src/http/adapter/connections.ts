import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../core/config/settings.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { rowOf } from '../../core/errors/raw-response.js';
import { abandon } from '../../core/requests-in-flight.js';
import { readForwardedFor } from '../../core/request-address.js';
import { noteArrival } from '../../core/tracing.js';
import { TransientMap } from '../../core/transient-map.js';
import { hold, release } from './held-socket.js';
import { Overload } from './overload.js';
import { ParserRefusals } from './parser-refusals.js';
import { readRequestLine } from './malformed-request.middleware.js';
import { hasUnreadBody } from './service-server.js';
import { checkReading, endEventStream, isEventStream, type Reading } from './slow-readers.js';

/** Time between two checks of all connections for clients that read too slowly, in milliseconds. */
const SWEEP_MS = 1_000;
/** How many requests of one connection may wait for their turn; then nothing more is read from it. */
const MOST_WAITING = 64;
/** How many connections continue in one turn of the event loop: Node accepts few new ones in a turn, so turns must be short. */
const MOST_CONTINUING = 16;

/** A request that waits for the response to the request before it. */
type Waiting = readonly [request: IncomingMessage, response: ServerResponse];

/** The state of one open connection. */
interface Connection {
  /** The response in progress; on an idle connection the last response, until the next check. */
  current: ServerResponse | undefined;
  /** The response whose `close` event has a listener, because something waits for its end. */
  watched: ServerResponse | undefined;
  readonly waiting: Waiting[];
  /** Called once all arrived requests have their responses. While it is set, nothing more is read from the connection. */
  last: (() => void) | undefined;
  reading: Reading | undefined;
  /** Whether nothing is read from it until fewer requests wait. */
  isHeld: boolean;
  /** How many requests have arrived on it. */
  arrived: number;
}

/** Whether all arrived requests have their responses. */
function isIdle({ current, waiting }: Connection): boolean {
  return (!current || current.closed) && waiting.length === 0;
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

  /** Connections whose turn it is to continue, the one that waits longest first. */
  private readonly continuing = new TransientMap<Socket, Connection>();
  private isContinuing = false;

  private handle: RequestListener | undefined;
  private draining = false;

  constructor(
    private readonly settings: Settings,
    private readonly refusals: ParserRefusals,
    private readonly overload: Overload,
  ) {}

  /** Replaces the server's `request` listener, and calls that listener for one request of a connection at a time. */
  attachTo(server: Server): void {
    const [handle] = server.listeners('request') as RequestListener[];
    if (!handle) throw new Error('The server has no request listener.');
    this.handle = handle;
    server.removeListener('request', handle);
    const opened = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(opened, (socket: Socket) => this.open(socket));
    const arrive: RequestListener = (request, response) => {
      readRequestLine(request);
      readForwardedFor(request);
      noteArrival(request);
      this.arrive(request, response);
    };
    server.on('request', arrive);
    // Otherwise Node would send 100 Continue before any guard has seen the head (RFC 9110 section 10.1.1).
    server.on('checkContinue', arrive);
    // Without this listener Node would send 417 for any other `Expect`; the service ignores such a field.
    server.on('checkExpectation', arrive);
    server.once('listening', () => {
      const timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
      server.once('close', () => clearInterval(timer));
    });
    server.on('clientError', (error: Error, socket: Socket) => this.reject(error, socket));
    // CONNECT asks a proxy to connect to a target (RFC 9110 section 9.3.6). The service is not a proxy: it refuses every target,
    // and a target of that form has no methods, which is what an empty Allow says (section 10.2.1).
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      this.refuseInTurn(socket, HTTP_ERRORS.method_not_allowed, { Allow: '' });
    });
  }

  /** From now on every response carries `Connection: close`, so that its client sends no more on a connection about to be closed. */
  drain(): void {
    this.draining = true;
    for (const [, { current }] of this.connections.all())
      if (current && !current.closed && !current.headersSent) current.setHeader('Connection', 'close');
  }

  /** Closes connections on which nothing has arrived yet, which Node does not count among the idle ones. */
  closeUnused(): void {
    for (const [socket] of this.connections.all()) if (socket.bytesRead === 0) socket.destroy();
  }

  /** Releases a connection for an upgrade; returns false, and refuses it in its turn, if earlier requests have no response yet. */
  giveUp(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    if (connection && !isIdle(connection)) {
      this.refuseInTurn(socket, HTTP_ERRORS.malformed_request);
      return false;
    }
    return this.connections.delete(socket);
  }

  /** Ends all event streams, which would otherwise last until the time of the shutdown is over. */
  endEventStreams(): void {
    for (const [, { current }] of this.connections.all())
      if (current && isEventStream(current)) endEventStream(current);
  }

  /** Whether no connection carries HTTP any more; an upgraded one does not. */
  get areClosed(): boolean {
    return this.connections.size === 0;
  }

  /** Refuses what Node's parser rejects or finds late: the body of the request in progress, or what follows the last request. */
  private reject(error: NodeJS.ErrnoException, socket: Socket): void {
    const row = rowOf(error);
    const current = this.connections.get(socket)?.current;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (current && !current.closed && hasUnreadBody(current.req)) {
      // A response that was begun before may end; one without an end yet is broken off.
      if (current.headersSent) setImmediate(() => current.writableEnded || socket.destroy());
      else this.refusals.refuseInPlace(current, row);
    } else if (row !== HTTP_ERRORS.request_timeout || !this.allowAgain(socket))
      this.refuseInTurn(socket, row);
  }

  /** Gives a late head its time again where the service has stopped reading it; returns false for any other, which is late. */
  private allowAgain(socket: Socket): boolean {
    const connection = this.connections.get(socket);
    const [last] = connection?.waiting.at(-1) ?? [];
    if (!connection?.isHeld || connection.last || !last || hasUnreadBody(last)) return false;
    const { arrived } = connection;
    const check = (): void => {
      if (socket.destroyed || connection.arrived !== arrived) return;
      if (!this.allowAgain(socket)) this.refuseInTurn(socket, HTTP_ERRORS.request_timeout);
    };
    setTimeout(check, this.settings.headersTimeoutMs).unref();
    return true;
  }

  /** Refuses after the responses to all arrived requests. Nothing more is read: a waiting request without its body is dropped. */
  private refuseInTurn(socket: Socket, row: ErrorRow, headers = {}): void {
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
    hold(socket);
  }

  private open(socket: Socket): Connection {
    const connection: Connection = {
      current: undefined,
      watched: undefined,
      waiting: [],
      last: undefined,
      reading: undefined,
      isHeld: false,
      arrived: 0,
    };
    this.connections.set(socket, connection);
    socket.once('close', () => {
      if (connection.current) abandon(connection.current);
      this.connections.delete(socket);
    });
    return connection;
  }

  private arrive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.connections.get(socket) ?? this.open(socket);
    connection.arrived += 1;
    if (!isIdle(connection)) {
      connection.waiting.push([request, response]);
      this.watch(connection, socket);
      if (connection.waiting.length >= MOST_WAITING) {
        connection.isHeld = true;
        hold(socket);
      }
    } else if (hasUnreadBody(request)) {
      // Not before the parser is done with the bytes that came with the head: if it rejects them, there is no request.
      connection.waiting.push([request, response]);
      process.nextTick(() => this.next(connection, socket));
    } else {
      this.begin(connection, request, response);
    }
  }

  private begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.current = response;
    if (this.draining) response.setHeader('Connection', 'close');
    this.handle?.(request, response);
  }

  /** Continues when the response in progress is closed; called only when something waits, so that most responses need no listener. */
  private watch(connection: Connection, socket: Socket): void {
    const { current } = connection;
    if (!current || current.closed || connection.watched === current) return;
    connection.watched = current;
    current.once('close', () => this.answered(connection, socket));
  }

  private answered(connection: Connection, socket: Socket): void {
    // In a later turn of the event loop, so that other connections are served in between.
    if (connection.waiting.length > 0 && socket.writable) {
      this.continuing.set(socket, connection);
      this.continueLater();
    } else connection.last?.();
  }

  private continueLater(): void {
    if (this.isContinuing) return;
    this.isContinuing = true;
    setImmediate(() => this.continueSome());
  }

  private continueSome(): void {
    this.isContinuing = false;
    for (const [socket, connection] of this.continuing.upTo(MOST_CONTINUING)) {
      this.continuing.delete(socket);
      this.next(connection, socket);
    }
    if (this.continuing.size > 0) this.continueLater();
  }

  private next(connection: Connection, socket: Socket): void {
    if (socket.destroyed) return;
    const waiting = connection.waiting.shift();
    if (!waiting) return;
    if (connection.waiting.length === MOST_WAITING / 2 && !connection.last) {
      connection.isHeld = false;
      release(socket);
    }
    this.begin(connection, ...waiting);
    if (connection.waiting.length > 0 || connection.last) this.watch(connection, socket);
  }

  private sweep(): void {
    const now = performance.now();
    for (const [socket, connection] of this.connections.all()) {
      // The last response of an idle connection must not stay in memory.
      if (connection.current?.closed) connection.current = undefined;
      const { current, reading } = connection;
      connection.reading =
        current && checkReading(socket, current, reading, now, this.settings.responseTimeoutMs);
    }
    this.overload.check(now);
  }
}
