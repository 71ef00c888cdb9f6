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
import { isReadingPaused, pauseReading, resumeReading } from './socket-reading.js';

/** The prototypes that an Express application sets on every request and response. */
interface ExpressPrototypes {
  request: object;
  response: object;
}

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** Interval between Node's checks for slow requests, in milliseconds. Its timeouts are late by up to this. */
const CHECK_INTERVAL_MS = 1_000;

/** A request of the service's own server. */
export interface ReportingRequest extends IncomingMessage {
  /** Called when the whole body has arrived. */
  whenWhole: (() => void) | undefined;
}

/** Creates an Express application's server, whose messages have Express's prototypes, because setting these costs 30 µs per request. */
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

/** Shared by all servers of an application. */
const MESSAGES = new WeakMap<object, ServiceMessages>();

/** The message classes of an Express application. They have its prototypes, so that it does not have to change those of each message. */
function messagesOf(application: ExpressPrototypes): ServiceMessages {
  const known = MESSAGES.get(application);
  if (known) return known;
  class ServiceRequest extends IncomingMessage {
    whenWhole: (() => void) | undefined = undefined;
    // The service and Express set these properties on every request. Declaring them here makes requests for single random animals 1.08 × as
    // fast.
    override arrivedAt = undefined;
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

    /**
     * If its client is gone, a response ends without a head. Node.js would send the head in the encoding of a text, but headers are Latin-1;
     * and V8 converts each character to UTF-8, whereas it copies ASCII text as Latin-1.
     */
    override end(text?: unknown, encoding?: unknown, whenSent?: unknown): this {
      this.countedIn?.end(this);
      const callback = whenSent as () => void;
      if (typeof text !== 'string' || (encoding !== undefined && encoding !== 'utf8'))
        return super.end(text, encoding as BufferEncoding, callback);
      const isAscii = Buffer.byteLength(text) === text.length;
      return isAscii ? super.end(text, 'latin1', callback) : super.end(Buffer.from(text), callback);
    }

    /** Every way to send a response calls this. If part of the body is unread, the connection is closed instead of reading the rest. */
    override writeHead(status: number, reason?: Fields | string, headers?: Fields): this {
      this.countedIn?.end(this);
      if (hasUnreadBody(this.req)) {
        this.setHeader('Connection', 'close');
        lingerBeforeClosing(this.req.socket);
      }
      // Node.js accepts the headers in either place, also after an undefined reason, which its types exclude.
      return super.writeHead(status, reason as string, headers);
    }
  }
  application.request = Object.setPrototypeOf(ServiceRequest.prototype, application.request) as object;
  application.response = Object.setPrototypeOf(ServiceResponse.prototype, application.response) as object;
  const messages = { IncomingMessage: ServiceRequest, ServerResponse: ServiceResponse };
  MESSAGES.set(application, messages);
  return messages;
}

/**
 * How long a connection stays open after the last received bytes if a response was sent before the whole body had arrived, in milliseconds.
 */
const LINGER_MS = 1_000;
/** Maximum of this time, in milliseconds. */
const MAX_LINGER_MS = 10_000;
/** How many bytes are read and discarded until then, because some clients read no response before they have sent the whole body. */
const MAX_DISCARDED = 6 * 1_024 * 1_024;
/** Maximum number of discarded bytes per second on all connections together. */
const MAX_DISCARDED_PER_SECOND = 256 * 1_024 * 1_024;

/** Whether part of the announced body has not arrived yet. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request);
}

/**
 * Lets the client read its response before the connection is closed (RFC 9112 section 9.6). Closing a socket with unread bytes would reset
 * the connection, and the response might be lost. Therefore the service ends its own side immediately, discards the data that arrives,
 * within limits, and closes the connection one second after the last bytes, whether or not the client has read the response.
 */
export function lingerBeforeClosing(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const until = performance.now() + MAX_LINGER_MS;
    const closing = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    let left = MAX_DISCARDED;
    // Bypasses the parser, which would be slow for a body in tiny chunks.
    for (const listener of socket.listeners('data')) socket.off('data', listener as () => void);
    socket.on('data', ({ length }: Buffer) => {
      left -= length;
      if (left <= 0 || performance.now() > until) {
        pauseReading(socket);
        return;
      }
      closing.refresh();
      const waitMs = discard(length);
      if (waitMs === 0) return;
      pauseReading(socket);
      setTimeout(() => resumeReading(socket), waitMs).unref();
    });
    resumeReading(socket);
    socket.resume();
    // If the parser consumed the socket directly, the stream does not know that nothing is reading.
    socket._read(0);
  };
}

/** Discards the body of a request that is refused later, up to the same number of bytes. */
export function discardBody(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  let left = MAX_DISCARDED;
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left > 0 || isReadingPaused(socket)) return;
    pauseReading(socket);
    response.once('close', () => resumeReading(socket));
  });
}

/** Bytes that all connections have discarded in this second. */
const discardedBytes = { second: 0, bytes: 0 };

/** Counts discarded bytes; returns how many milliseconds to pause reading. */
function discard(bytes: number): number {
  const now = performance.now();
  const second = Math.floor(now / 1_000);
  if (second !== discardedBytes.second) Object.assign(discardedBytes, { second, bytes: 0 });
  discardedBytes.bytes += bytes;
  return discardedBytes.bytes > MAX_DISCARDED_PER_SECOND ? (second + 1) * 1_000 - now : 0;
}
