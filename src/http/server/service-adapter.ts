import type { Server } from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import { serverOf } from './service-server.js';

/** How many connections may wait to be accepted: as many as the kernel keeps; Node asks for 511, and the rest would wait for seconds. */
const BACKLOG = 65_535;

/** Nest's Express adapter for this service: it reads no body, and paths differ by case and trailing slash. graceful-stop.ts stops it. */
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
