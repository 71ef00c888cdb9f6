import type { Server } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
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
  constructor() {
    const application = express();
    // Express makes its router when the first middleware is added, which Nest's adapter does, and reads its settings only then.
    application.enable('case sensitive routing');
    application.enable('strict routing');
    super(application);
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
