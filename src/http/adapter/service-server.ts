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

/** The prototypes that an Express application sets on every request and response. */
interface ExpressPrototypes {
  request: object;
  response: object;
}

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * Time between two checks of Node for requests that take too long, in milliseconds; its timeouts are late by at most that much.
 */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Makes the server of an Express application. Express sets the prototype of every request and response, and an object whose
 * prototype was changed is slow to use (some 30 µs for each request). So this server creates its messages from classes that
 * already have the prototypes of Express.
 */
export function serverOf(
  application: Application & ExpressPrototypes,
  httpsOptions: ServerOptions | undefined,
): Server {
  const options = {
    ...messagesOf(application),
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Node would answer a missing Host with an empty body; MalformedRequestMiddleware answers it with the Error body.
    requireHostHeader: false,
  };
  return httpsOptions
    ? createHttpsServer({ ...httpsOptions, ...options }, application)
    : createHttpServer(options, application);
}

/**
 * The message classes of an Express application. The application gets their prototypes as its own, so that it sets on each
 * message the prototype that the message already has, which changes nothing.
 */
function messagesOf(application: ExpressPrototypes) {
  class ServiceRequest extends IncomingMessage {}
  class ServiceResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    /**
     * Every way to send a response calls this method. If part of the body is unread, the connection is closed: reading the rest
     * would serve only to keep the connection.
     */
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
