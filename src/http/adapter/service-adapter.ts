import type { Server } from 'node:http';
import { type NestApplicationOptions, RequestMethod } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Application, type RequestHandler } from 'express';
import { declaredOperationOf } from './declared-operation.js';
import { type RoutedApplication, directRoute } from './direct-route.js';
import { serverOf } from './service-server.js';

/**
 * How many connections may wait to be accepted: as many as the kernel keeps (net.core.somaxconn on Linux, 4,096 by default). Of
 * those that come at once beyond Node's own 511 the rest would wait for the kernel's next tries, after 1, 3 and 7 s.
 */
const BACKLOG = 65_535;

/**
 * Nest's Express adapter for this service, for `NestFactory.create()` and the testing module alike. It reads no body, and
 * distinguishes paths by case and trailing slash. Nest's options `forceCloseConnections` and `return503OnClosing` have no effect,
 * because graceful-stop.ts stops the service.
 */
export class ServiceAdapter extends ExpressAdapter {
  private application: RoutedApplication | undefined;

  constructor() {
    const application = express();
    // Express makes its router when the first middleware is added, which Nest's adapter does, and reads its settings only then.
    application.enable('case sensitive routing');
    application.enable('strict routing');
    super(application);
  }

  /** Has routes run directly where that is all the same; without this call Nest runs them all. */
  runDirectly(application: RoutedApplication): void {
    this.application = application;
  }

  /** Express's `get()` also takes the name of a setting and nothing else. */
  override get(...args: [path: unknown, handler?: RequestHandler]): unknown {
    const [path, handler] = args;
    return handler
      ? this.register(RequestMethod.GET, path as string, handler)
      : (this.instance as Application).get(path as string);
  }

  override post(...[path, handler]: unknown[]): unknown {
    return this.register(RequestMethod.POST, path as string, handler as RequestHandler);
  }

  private register(method: RequestMethod, path: string, handler: RequestHandler): unknown {
    const operation = declaredOperationOf(handler);
    const triggered = this.getOnRouteTriggered();
    const onRequest = triggered && ((): void => triggered(method, path));
    const direct = operation && this.application && directRoute(operation, this.application, this, onRequest);
    const routes = this.instance as Application;
    return routes[method === RequestMethod.GET ? 'get' : 'post'](path, withMetadataOf(handler, direct));
  }

  override initHttpServer(options?: NestApplicationOptions): void {
    this.setHttpServer(serverOf(this.getInstance<Parameters<typeof serverOf>[0]>(), options?.httpsOptions));
  }

  override listen(port: string | number, ...rest: unknown[]): Server {
    const callback = rest.at(-1);
    const before = typeof callback === 'function' ? rest.slice(0, -1) : rest;
    const listen = super.listen.bind(this) as (port: string | number, ...rest: unknown[]) => Server;
    return listen(port, ...before, BACKLOG, ...rest.slice(before.length));
  }

  /** Registers no body parser: BodyGuard reads the bodies, after the guards. */
  override registerParserMiddleware(): void {}
}

/** The handler that takes the place of one that Nest has made, with the metadata that Nest has copied to that one. */
function withMetadataOf(handler: RequestHandler, direct: RequestHandler | undefined): RequestHandler {
  if (!direct) return handler;
  for (const key of Reflect.getMetadataKeys(handler) as unknown[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), direct);
  return direct;
}
