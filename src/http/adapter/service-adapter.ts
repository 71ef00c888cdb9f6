import {
  createServer as createHttpServer,
  IncomingMessage,
  ServerResponse,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application } from 'express';
import { hasUnreadBody, lingerBeforeClosing } from './unread-body.js';

/** The prototypes that an Express application gives to every request and response. */
export interface ExpressPrototypes {
  request: object;
  response: object;
}

type Fields = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** How often Node looks for requests that take too long, in milliseconds: its timeouts fire that much late at most. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Nest's Express adapter, with a server whose messages are born as Express's: Express changes the prototype of every request
 * and response otherwise, and an object whose prototype was changed is slow ever after (some 30 µs for each request). An
 * application on a plain ExpressAdapter works as well, without that and with Node's own options. Of Nest's options
 * `forceCloseConnections` and `return503OnClosing` have no effect: the service stops by graceful-stop.ts.
 */
export class ServiceAdapter extends ExpressAdapter {
  override initHttpServer(options?: NestApplicationOptions): void {
    const express = this.getInstance<Application & ExpressPrototypes>();
    const messages = messagesOf(express);
    const own = {
      ...messages,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // Node would answer a missing Host without a body; MalformedRequestMiddleware does it instead.
      requireHostHeader: false,
    };
    const { httpsOptions } = options ?? {};
    const server = httpsOptions
      ? createHttpsServer({ ...httpsOptions, ...own }, express)
      : createHttpServer(own, express);
    this.setHttpServer(server);
  }
}

/** The classes of an Express application's messages; from now on Express finds their prototypes in place. */
function messagesOf(express: ExpressPrototypes) {
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
  express.request = Object.setPrototypeOf(ServiceRequest.prototype, express.request) as object;
  express.response = Object.setPrototypeOf(ServiceResponse.prototype, express.response) as object;
  return { IncomingMessage: ServiceRequest, ServerResponse: ServiceResponse };
}
