import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { Injectable } from '@nestjs/common';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { isIdle, type Connection } from './connection.js';
import { ConnectionTimeouts, MOST_HEAD_BYTES } from './connection-timeouts.js';
import { ParserRefusals, type AnswersInTurn } from './parser-refusals.js';
import { readRequestLine } from './request-line.js';
import { announcesBody } from './unread-body.js';

/** How often connections are looked at, in milliseconds: their time limits are kept that exactly. */
const SWEEP_MS = 1_000;
/** Requests of one connection that may wait for their turn; then nothing more is read from it. */
const MOST_WAITING = 64;

/**
 * Handles the requests of each connection one after the other, as they were sent. Others do not wait for a client that sends
 * thousands at once, a request is carried out only when all before it are answered (RFC 9112 section 9.3.2), and no more than
 * one answer of a connection is ever in memory, which is gone with its socket: Node tells no response that waits behind another
 * when their socket has closed.
 */
@Injectable()
export class Connections implements AnswersInTurn {
  private readonly connections = new Map<Socket, Connection>();

  private handle: RequestListener | undefined;
  private draining = false;

  constructor(
    private readonly timeouts: ConnectionTimeouts,
    private readonly refusals: ParserRefusals,
  ) {}

  /** Stands in front of whoever handles the server's requests now. */
  standInFrontOf(server: Server): void {
    const [handle] = server.listeners('request') as RequestListener[];
    if (!handle) throw new Error('There is nobody to stand in front of.');
    this.handle = handle;
    server.removeListener('request', handle);
    const opened = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(opened, (socket: Socket) => this.open(socket));
    const arrive: RequestListener = (request, response) => {
      readRequestLine(request);
      this.arrive(request, response);
    };
    server.on('request', arrive);
    // Without a listener Node would ask for the body before any guard has seen the head (RFC 9110 section 10.1.1).
    server.on('checkContinue', arrive);
    // Other expectations may be ignored.
    server.on('checkExpectation', arrive);
    // A connection that is upgraded is no longer HTTP's; before anybody listens for that, none is.
    server.on('newListener', (event) => {
      if (event === 'upgrade' && server.listenerCount('upgrade') === 0)
        setImmediate(() =>
          server.on('upgrade', (_request, socket: Socket) => this.connections.delete(socket)),
        );
    });
    server.once('listening', () => {
      const timer = setInterval(() => this.sweep(), SWEEP_MS);
      // Nobody waits for this alone.
      timer.unref();
      server.once('close', () => clearInterval(timer));
    });
    this.refusals.answer(server, this);
  }

  /**
   * From now on every answer tells its client that the connection ends with it, so that no client sends its next request into
   * a connection that is about to be closed. Connections that have never been used are closed at once.
   */
  drain(): void {
    this.draining = true;
    for (const [socket, { current }] of this.connections) {
      if (current && !current.closed && !current.headersSent) current.setHeader('Connection', 'close');
      else if (socket.bytesRead === 0) socket.destroy();
    }
  }

  /** The answer of a connection that is under way. */
  answerOf(socket: Socket): ServerResponse | undefined {
    const current = this.connections.get(socket)?.current;
    return current?.closed ? undefined : current;
  }

  /** Calls back once everything that has arrived on a connection is answered. Nothing more is read from it. */
  afterAnswers(socket: Socket, callback: () => void): void {
    const connection = this.connections.get(socket);
    if (!connection || isIdle(connection)) {
      callback();
      return;
    }
    connection.last ??= callback;
    this.watch(connection, socket);
    hold(socket);
  }

  private open(socket: Socket): Connection {
    const connection: Connection = {
      current: undefined,
      watched: undefined,
      waiting: [],
      last: undefined,
      bytesRead: 0,
      headSince: performance.now(),
      pending: undefined,
    };
    this.connections.set(socket, connection);
    socket.once('close', () => this.connections.delete(socket));
    return connection;
  }

  private arrive(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.connections.get(socket) ?? this.open(socket);
    const headBytes = socket.bytesRead - connection.bytesRead;
    connection.bytesRead = socket.bytesRead;
    connection.headSince = undefined;
    if (!isIdle(connection)) {
      connection.waiting.push([request, response]);
      this.watch(connection, socket);
      if (connection.waiting.length >= MOST_WAITING) hold(socket);
    } else if (headBytes > MOST_HEAD_BYTES) {
      this.refusals.refuse(socket, HTTP_ERRORS.headers_too_large);
    } else {
      this.begin(connection, request, response);
    }
  }

  private begin(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    connection.current = response;
    // What has arrived by then was its body, and no head.
    if (announcesBody(request))
      response.once('close', () => (connection.bytesRead = request.socket.bytesRead));
    if (this.draining) response.setHeader('Connection', 'close');
    this.handle?.(request, response);
  }

  /** Goes on when the answer under way is sent. Nobody listens for that while nothing waits for it, which is nearly always. */
  private watch(connection: Connection, socket: Socket): void {
    const { current } = connection;
    if (!current || current.closed || connection.watched === current) return;
    connection.watched = current;
    current.once('close', () => this.answered(connection, socket));
  }

  private answered(connection: Connection, socket: Socket): void {
    // A turn later: other connections are served in between.
    if (connection.waiting.length > 0 && socket.writable) setImmediate(() => this.next(connection, socket));
    else connection.last?.();
  }

  private next(connection: Connection, socket: Socket): void {
    if (socket.destroyed) return;
    const waiting = connection.waiting.shift();
    if (!waiting) return;
    if (connection.waiting.length === MOST_WAITING / 2 && !connection.last) release(socket);
    this.begin(connection, ...waiting);
    if (connection.waiting.length > 0 || connection.last) this.watch(connection, socket);
  }

  private sweep(): void {
    const now = performance.now();
    for (const [socket, connection] of this.connections) this.timeouts.check(socket, connection, now);
  }
}

/** Reads nothing more from a connection. Node resumes its socket with every message, and must not. */
function hold(socket: Socket): void {
  socket.resume = () => socket;
  socket.pause();
}

/** Reads from a connection again. */
function release(socket: Socket): void {
  // What stands on the socket itself is ours; the method is its class's.
  if (Reflect.deleteProperty(socket, 'resume')) socket.resume();
}
