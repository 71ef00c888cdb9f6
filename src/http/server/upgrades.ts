import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { TransientMap } from '../../core/transient-map.js';
import { Connections } from './connections.js';
import { malformationOf, readRequestLine } from './malformed-request.middleware.js';

/** A close frame with code 1001, going away (RFC 6455 sections 5.5.1 and 7.4.1). */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);
/** How long an upgraded connection may take to close when the service stops, in milliseconds. */
const CLOSE_GRACE_MS = 1_000;
/** Time limit for listeners to send the first byte of a response, in milliseconds. */
const MAX_SILENCE_MS = 10_000;

const NOT_UPGRADED: ErrorRow = {
  ...HTTP_ERRORS.malformed_request,
  message: 'The request is malformed: it requests an unsupported upgrade; omit the Upgrade header.',
};

/**
 * Passes upgrades to gateways and other `upgrade` listeners of modules, like plain Nest: without a key and without counting. Upgrades that
 * no listener handles, and malformed requests, are refused with the Error body.
 */
@Injectable()
export class Upgrades implements BeforeApplicationShutdown {
  /** Upgraded connections, and whether each is a WebSocket. */
  private readonly upgraded = new TransientMap<Socket, boolean>();

  constructor(private readonly connections: Connections) {}

  /** Routes every upgrade of a server through this class before its listeners. */
  attachTo(server: Server): void {
    const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean;
    const offering = (event: string, ...args: unknown[]): boolean => {
      if (event !== 'upgrade') return emit(event, ...args);
      const [request, socket] = args as [IncomingMessage, Socket];
      // Node has removed its own listener, and an `error` event without one would end the process.
      socket.on('error', () => socket.destroy());
      readRequestLine(request);
      const malformation = malformationOf(request)?.body;
      if (malformation || !this.connections.abandon(socket)) {
        this.connections.refuseInOrder(socket, { ...NOT_UPGRADED, ...malformation });
        return true;
      }
      this.upgraded.set(socket, request.headers.upgrade?.toLowerCase() === 'websocket');
      socket.once('close', () => this.upgraded.delete(socket));
      unlessUpgraded(socket, () => this.connections.refuseInOrder(socket, NOT_UPGRADED));
      return emit(event, ...args);
    };
    // Node upgrades nothing without a listener, so this one is added only together with the first.
    server.on('newListener', (event) => {
      if (event === 'upgrade') server.emit = offering as Server['emit'];
    });
  }

  /** Closes the remaining connections. Modules can close theirs earlier in `onModuleDestroy()`. */
  beforeApplicationShutdown(): void {
    for (const [socket, isWebSocket] of this.upgraded.all()) {
      socket.end(isWebSocket ? GOING_AWAY : '');
      setTimeout(() => socket.destroy(), CLOSE_GRACE_MS).unref();
    }
  }
}

/** Calls `refuse` if the listeners close a connection, or ignore it for too long, before sending a byte. */
function unlessUpgraded(socket: Socket, refuse: () => void): void {
  const { bytesWritten } = socket;
  const isUnhandled = () => socket.writable && socket.bytesWritten === bytesWritten;
  for (const name of ['destroy', 'end'] as const) {
    const close = socket[name].bind(socket) as (...args: unknown[]) => Socket;
    socket[name] = (...args: unknown[]) => {
      if (args.length === 0 && isUnhandled()) refuse();
      else close(...args);
      return socket;
    };
  }
  const late = setTimeout(() => isUnhandled() && refuse(), MAX_SILENCE_MS).unref();
  socket.once('close', () => clearTimeout(late));
}
