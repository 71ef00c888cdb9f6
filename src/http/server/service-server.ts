import {
  createServer as createHttpServer,
  IncomingMessage,
  ServerResponse,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Application } from 'express';
import type { Countable, RequestsInFlight } from '../../core/requests-in-flight.js';
import { announcesBody } from '../chain/body.guard.js';
import { hold, release } from './held-socket.js';

/** The prototypes that an Express application sets on every request and response. */
interface ExpressPrototypes {
  request: object;
  response: object;
}

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Time between two checks of Node for requests that take too long, in milliseconds: its timeouts are late by as much. */
const CHECK_INTERVAL_MS = 1_000;

/** A request of the service's own server. */
export interface ReportingRequest extends IncomingMessage {
  /** Called when the whole body has arrived. */
  whenWhole: (() => void) | undefined;
}

/** Makes the server of an Express application, of messages that have Express's prototypes: setting them costs 30 µs a request. */
export function serverOf(application: Application & ExpressPrototypes, httpsOptions?: ServerOptions): Server {
  const options = {
    ...messagesOf(application),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Node would refuse a missing Host with an empty body; MalformedRequestMiddleware sends the Error body.
    requireHostHeader: false,
  };
  return httpsOptions
    ? createHttpsServer({ ...httpsOptions, ...options }, application)
    : createHttpServer(options, application);
}

type ServiceMessages = Pick<typeof import('node:http'), 'IncomingMessage' | 'ServerResponse'>;

/** All servers of an application have the same. */
const MESSAGES = new WeakMap<object, ServiceMessages>();

/** The message classes of an Express application, which gets their prototypes as its own and so changes none of a message. */
function messagesOf(application: ExpressPrototypes): ServiceMessages {
  const known = MESSAGES.get(application);
  if (known) return known;
  class ServiceRequest extends IncomingMessage {
    whenWhole: (() => void) | undefined = undefined;
    // What the service and Express note on every request: as members from the beginning they make one animal at random 1.08 × as fast.
    override traceIds = undefined;
    override clientAddress = undefined;
    override caller = undefined;
    override requester = undefined;
    override quotaSubject = undefined;
    override isUncounted = undefined;
    override isUnlogged = undefined;
    override operation = undefined;
    override linkOfGuards = undefined;
    override cached = undefined;
    override refusalCode = undefined;
    res = undefined;
    next = undefined;
    baseUrl = undefined;
    originalUrl = undefined;
    _parsedUrl = undefined;
    params = undefined;
    route = undefined;

    /** Node's parser calls it for each part of the body, and with null at the end. */
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      if (chunk === null) this.whenWhole?.();
      return super.push(chunk, encoding);
    }
  }
  class ServiceResponse<Request extends IncomingMessage = IncomingMessage>
    extends ServerResponse<Request>
    implements Countable
  {
    countedIn: RequestsInFlight | undefined = undefined;
    abandoned: NodeJS.Timeout | undefined = undefined;
    isWaiting = false;

    /** If its client is gone, a response ends without a head. */
    override end(...body: unknown[]): this {
      this.countedIn?.end(this);
      return super.end(...(body as []));
    }

    /** Every way to send a response calls this. If part of the body is unread, the connection is closed instead of reading the rest. */
    override writeHead(status: number, reason?: Fields | string, headers?: Fields): this {
      this.countedIn?.end(this);
      if (hasUnreadBody(this.req)) {
        this.setHeader('Connection', 'close');
        lingerBeforeClosing(this.req.socket);
      }
      return typeof reason === 'string'
        ? super.writeHead(status, reason, headers)
        : super.writeHead(status, reason);
    }
  }
  application.request = Object.setPrototypeOf(ServiceRequest.prototype, application.request) as object;
  application.response = Object.setPrototypeOf(ServiceResponse.prototype, application.response) as object;
  const messages = { IncomingMessage: ServiceRequest, ServerResponse: ServiceResponse };
  MESSAGES.set(application, messages);
  return messages;
}

/** How long a connection stays open after a response that was sent before the whole body had arrived, in milliseconds, once nothing arrives. */
const LINGER_MS = 1_000;
/** How long at most, in milliseconds. */
const MAX_LINGER_MS = 10_000;
/** How much is read and discarded until then, in bytes: some clients read no response before they have sent the whole body. */
const MAX_DISCARDED = 6 * 1_024 * 1_024;
/** How much in a second on all connections together, in bytes. */
const MAX_DISCARDED_PER_SECOND = 256 * 1_024 * 1_024;

/** Whether a part of the announced body has not arrived yet. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request);
}

/**
 * Lets the client read its response before the connection is closed (RFC 9112 section 9.6). Closing a socket with unread bytes
 * would reset the connection, and the response might be lost. So the service ends its own side at once, discards what arrives, within
 * bounds, and closes the connection one second after the last of it, whether or not the client has read the response.
 */
export function lingerBeforeClosing(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const until = performance.now() + MAX_LINGER_MS;
    const closing = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    let left = MAX_DISCARDED;
    // Instead of the parser, which would take its time for a body in tiny chunks.
    for (const listener of socket.listeners('data')) socket.off('data', listener as () => void);
    socket.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left <= 0 || performance.now() > until) {
        hold(socket);
        return;
      }
      closing.refresh();
      const waitMs = discard(length);
      if (waitMs === 0) return;
      hold(socket);
      setTimeout(() => release(socket), waitMs).unref();
    });
    release(socket);
    socket.resume();
    // Where the parser has had the socket's bytes, the stream does not know that the socket is not read.
    socket._read(0);
  };
}

/** What all connections together have discarded in this second. */
const discardedBytes = { second: 0, bytes: 0 };

/** Counts discarded bytes; returns for how many milliseconds no more may be read. */
function discard(bytes: number): number {
  const now = performance.now();
  const second = Math.floor(now / 1_000);
  if (second !== discardedBytes.second) Object.assign(discardedBytes, { second, bytes: 0 });
  discardedBytes.bytes += bytes;
  return discardedBytes.bytes > MAX_DISCARDED_PER_SECOND ? (second + 1) * 1_000 - now : 0;
}
