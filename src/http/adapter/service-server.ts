import {
  createServer as createHttpServer,
  IncomingMessage,
  ServerResponse,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { Application } from 'express';
import { hasUnreadBody, lingerBeforeClosing } from './unread-body.js';

/** The prototypes that an Express application gives to every request and response. */
interface ExpressPrototypes {
  request: object;
  response: object;
}

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** How often Node looks for requests that take too long, in milliseconds: its timeouts fire that much late at most. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Makes the server of an Express application. Its messages are born as Express's: Express changes the prototype of every request
 * and response otherwise, and an object whose prototype was changed is slow ever after (some 30 µs for each request).
 */
export function serverOf(
  application: Application & ExpressPrototypes,
  httpsOptions: ServerOptions | undefined,
): Server {
  const options = {
    ...messagesOf(application),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Node would answer a missing Host without a body; MalformedRequestMiddleware does it instead.
    requireHostHeader: false,
  };
  return httpsOptions
    ? createHttpsServer({ ...httpsOptions, ...options }, application)
    : createHttpServer(options, application);
}

/** The classes of an Express application's messages; from now on Express finds their prototypes in place. */
function messagesOf(application: ExpressPrototypes) {
  class ServiceRequest extends IncomingMessage {}
  class ServiceResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    /** Every way to answer comes by here. What is left of a body is not read only to keep the connection. */
    override writeHead(status: number, reason?: Fields | string, headers?: Fields): this {
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
  return { IncomingMessage: ServiceRequest, ServerResponse: ServiceResponse };
}
