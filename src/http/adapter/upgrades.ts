import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type BeforeApplicationShutdown, ForbiddenException, Injectable, type Type } from '@nestjs/common';
import { type ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { PUBLIC_ROUTE, REQUIRED_SCOPES } from '../../auth/auth.decorators.js';
import { declarationFault } from '../../core/declaration-faults.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { readForwardedFor } from '../../core/request-address.js';
import { callersTraceOf } from '../../core/tracing.js';
import { TransientMap } from '../../core/transient-map.js';
import { RequestRecords, assignRequestId } from '../request-records.js';
import { MalformedRequestMiddleware, readRequestLine } from './malformed-request.middleware.js';
import { Overload } from './overload.js';
import { lingerBeforeClosing } from './service-server.js';

/** Nest's metadata keys of a gateway, by @nestjs/websockets, which the service itself does not need. */
const IS_GATEWAY = 'websockets:is_gateway';
const GATEWAY_OPTIONS = 'websockets:gateway_options';
const GATEWAY_PORT = 'port';

/** A close frame with the code 1001, going away (RFC 6455 sections 5.5.1 and 7.4.1). */
const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);
/** How long an upgraded connection may take to close when the service stops, in milliseconds. */
const LAST_WORDS_MS = 1_000;

/** The gateways of all modules, by path. Throws DeclarationError for those that would be opened past their decorators. */
export function gatewaysOf(discovery: DiscoveryService): ReadonlyMap<string, Type> {
  const gateways = new Map<string, Type>();
  for (const { metatype } of discovery.getProviders()) {
    if (typeof metatype !== 'function' || Reflect.getMetadata(IS_GATEWAY, metatype) !== true) continue;
    const gateway = metatype as Type;
    // Nest opens another server there.
    if (Reflect.getMetadata(GATEWAY_PORT, gateway))
      declarationFault(
        `${gateway.name}: @WebSocketGateway() names a port, where no key is needed and nothing counts. Name only its path.`,
      );
    const { path = '' } = (Reflect.getMetadata(GATEWAY_OPTIONS, gateway) ?? {}) as { path?: string };
    const place = `/${path.replace(/^\/|\/$/g, '')}`;
    const other = gateways.get(place);
    if (other && admissionOf(other) !== admissionOf(gateway))
      declarationFault(
        `${gateway.name}: ${other.name} has the path ${place}, too, but other callers. Give both the same @RequireScopes() or @Public().`,
      );
    gateways.set(place, gateway);
  }
  return gateways;
}

/** The callers that a gateway is opened to, as a text to compare. */
function admissionOf(gateway: Type): string {
  return JSON.stringify(
    [PUBLIC_ROUTE, REQUIRED_SCOPES].map((key) => Reflect.getMetadata(key, gateway) as unknown),
  );
}

/** Represents the handler of an upgrade: guards recognize one from it, and it has no metadata. */
export function openConnection(): void {}

/**
 * Lets an upgraded connection, such as a WebSocket, be opened by the guards of the chain: it needs a key and counts as one
 * request, and a refusal is sent as an HTTP response before anything is upgraded. A gateway's `@Public()`, `@RequireScopes()` and other
 * decorators apply to its path; every other path needs a key. Then the `upgrade` listeners of modules run, and `callerOf()`
 * knows the caller of their request.
 */
@Injectable()
export class Upgrades implements BeforeApplicationShutdown {
  private gateways: ReadonlyMap<string, Type> | undefined;
  /** Upgraded connections, each with whether it is a WebSocket. */
  private readonly upgraded = new TransientMap<Socket, boolean>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly malformed: MalformedRequestMiddleware,
    private readonly records: RequestRecords,
    private readonly overload: Overload,
  ) {}

  /**
   * Lets every upgrade of a server pass the guards of an application before the server's listeners. `giveUp` is
   * called with its socket first: it gives up the connection, or refuses the upgrade and returns false.
   */
  attachTo(server: Server, config: ApplicationConfig, giveUp: (socket: Socket) => boolean): void {
    const emit = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean;
    const gated = (event: string, ...args: unknown[]): boolean => {
      if (event !== 'upgrade') return emit(event, ...args);
      const [request, socket] = args as [IncomingMessage, Socket];
      // Node has removed its own listener, and an `error` event without one would end the process.
      socket.on('error', () => socket.destroy());
      if (giveUp(socket))
        void this.open(request, socket, config, server.listenerCount('upgrade')).then(
          (isOpen) => isOpen && emit(event, ...args),
        );
      return true;
    };
    // Node upgrades nothing before there is a listener; until then no event of the server takes this way.
    server.on('newListener', (event) => {
      if (event === 'upgrade') server.emit = gated as Server['emit'];
    });
    server.on('removeListener', (event) => {
      if (event === 'request' && server.listenerCount(event) === 0)
        declarationFault(
          'Something takes over the requests of the server, which would then pass no guard, as Socket.IO does for its long polling. ' +
            'For gateways, use the WsAdapter of @nestjs/platform-ws.',
        );
    });
  }

  /** Closes the remaining connections. Modules may close theirs before that in `onModuleDestroy()`. */
  beforeApplicationShutdown(): void {
    for (const [socket, isWebSocket] of this.upgraded.all()) {
      socket.end(isWebSocket ? GOING_AWAY : '');
      setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
    }
  }

  /** Whether the upgrade may continue; otherwise it is refused. Never rejects. */
  private async open(
    message: IncomingMessage,
    socket: Socket,
    config: ApplicationConfig,
    listeners: number,
  ): Promise<boolean> {
    const start = performance.now();
    readRequestLine(message);
    readForwardedFor(message);
    const request = Object.assign(message, { originalUrl: message.url }) as Request;
    const response = new ServerResponse(request) as Response;
    const path = resolvedPathOf(request.originalUrl);
    this.gateways ??= gatewaysOf(this.discovery);
    const gateway = this.gateways.get(path);
    const protocol = request.headers.upgrade?.toLowerCase() ?? '';
    let status = 101;
    request.traceIds = callersTraceOf(request);
    try {
      assignRequestId(request, response, () => undefined);
      const refusal = await this.overload.refusalOfUpgrade(request);
      if (refusal) throw refusal;
      await this.malformed.use(request, response, () => undefined);
      await admit(new ExecutionContextHost([request, response], gateway ?? Upgrades, openConnection), config);
      // The listener of all gateways would end the connection without a response, such as that of a client that offers h2c.
      if (protocol !== 'websocket' && this.gateways.size > 0 && listeners === 1)
        throw new ApiError(HTTP_ERRORS.malformed_request, {
          params: { reason: `no connection can be upgraded to ${protocol} here; omit Upgrade` },
        });
    } catch (error) {
      refuse(error, request, response, socket);
      status = response.statusCode;
    }
    const labels = {
      method: request.method,
      route: request.servedRoute ?? (gateway ? path : 'upgrade'),
      status,
    };
    this.records.record(request, response, labels, performance.now() - start);
    if (status !== 101 || socket.destroyed) return false;
    this.upgraded.set(socket, protocol === 'websocket');
    socket.once('close', () => this.upgraded.delete(socket));
    return true;
  }
}

/** The path of a target as the WsAdapter of Nest finds the gateway: `/v1/chat` of `/v1/x/../chat?a=1` and of `//a/v1/chat`. */
function resolvedPathOf(target: string): string {
  return URL.canParse(target, 'ws://a') ? new URL(target, 'ws://a').pathname : target;
}

/** Runs the global guards; throws what a guard throws. */
async function admit(context: ExecutionContextHost, config: ApplicationConfig): Promise<void> {
  // Nest creates those for each of its requests; left out, they would fail open.
  if (config.getGlobalRequestGuards().length > 0)
    throw new Error('A global guard is request-scoped: connections cannot be upgraded.');
  for (const guard of config.getGlobalGuards()) {
    const verdict = await guard.canActivate(context);
    if (!(isObservable(verdict) ? await lastValueFrom(verdict) : verdict))
      throw new ForbiddenException('Forbidden resource');
  }
}

/** Responds with the Error body, and closes the connection. */
function refuse(error: unknown, request: Request, response: Response, socket: Socket): void {
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => {
    lingerBeforeClosing(socket);
    socket.destroySoon();
  });
  writeRefusal(error, request, response);
}
