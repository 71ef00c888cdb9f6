import type { Server } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { serverOf } from './service-server.js';

/** Backlog of connections that wait to be accepted: the kernel's maximum. With Node's default of 511, the rest would wait for seconds. */
const BACKLOG = 65_535;

/**
 * Nest's Express adapter for this service: it reads no body, and paths are sensitive to case and trailing slashes. graceful-stop.ts stops
 * it.
 */
export class ServiceAdapter extends ExpressAdapter {
  constructor() {
    const application = express();
    // Express reads this setting when it creates its router, which happens when Nest's adapter adds the first middleware.
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

  /** Registers no body parser: BodyGuard reads bodies, after the other guards. */
  override registerParserMiddleware(): void {}
}
