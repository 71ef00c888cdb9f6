import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Request, Response } from 'express';
import { listenError } from '../config/listen-errors.js';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { writeRefusal } from '../errors/write-refusal.js';
import { plainServer } from '../plain-server.js';
import { plainTargetOf } from '../request-target.js';
import { Metrics } from './metrics.js';

/** Paths on a management port with the administration, in addition to `/metrics`. The console reads its key from /account. */
const ADMINISTRATION = /^\/(?:admin|console|account)(?:[/?]|$)/;

/** Serves `/metrics` and, with ADMIN_ON=management, the administration on a separate port. */
@Injectable()
export class ManagementServer implements OnApplicationShutdown {
  /** The application's server for the administration on this port. */
  administration: Server | undefined;

  private server: Server | undefined;

  constructor(
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'exposition'>,
    private readonly settings: Settings,
  ) {}

  /** Sets the application's server for the administration on the management port; it does not listen yet. */
  administer(server: Server): void {
    this.administration = server;
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      const [respond] = server.listeners(event) as RequestListener[];
      server.removeAllListeners(event).on(event, (request: IncomingMessage, response: ServerResponse) => {
        request.isByManagementPort = true;
        if (ADMINISTRATION.test(targetOf(request))) respond?.(request, response);
        else void this.respond(request, response);
      });
    }
  }

  /** Starts to listen and returns the port, or null if MANAGEMENT_PORT is off. Throws an error in plain words if it cannot listen. */
  async listen(): Promise<number | null> {
    const { managementPort, managementHost } = this.settings;
    const host = managementHost ?? this.settings.host;
    if (managementPort === null && this.administration)
      throw new Error('ADMIN_ON=management requires a MANAGEMENT_PORT, but it is off.');
    if (managementPort === null) return null;
    const server =
      this.administration ?? plainServer((request, response) => void this.respond(request, response));
    server.listen(managementPort, host);
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      throw listenError({ variable: 'MANAGEMENT_PORT', port: managementPort, host }, error);
    });
    this.server = server;
    return (server.address() as AddressInfo).port;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '' } = request;
    const refuse = (refusal: ApiError) => writeRefusal(refusal, request as Request, response as Response);
    // Prometheus may be configured to send parameters (`params` of a scrape).
    if (targetOf(request).split('?', 1)[0] !== '/metrics')
      return refuse(new ApiError(HTTP_ERRORS.route_not_found));
    if (method !== 'GET' && method !== 'HEAD') {
      const headers = { Allow: 'GET, HEAD' };
      const params = { method, allowed: headers.Allow };
      return refuse(new ApiError(HTTP_ERRORS.method_not_allowed, { params, headers }));
    }
    const { contentType, text } = await this.metrics.exposition();
    response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text);
  }
}

/** The request target in origin form, like on the public port; empty if it has none. */
function targetOf({ url = '' }: IncomingMessage): string {
  return plainTargetOf(url) ?? '';
}
