import { parse as parseQuery } from 'node:querystring';
import { type INestApplication, type LoggerService, type Type, VersioningType } from '@nestjs/common';
import { type ApplicationConfig, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application } from 'express';
import { AppModule } from './app.module.js';
import { ResponseCache } from './caching/response-cache.js';
import { Settings } from './config/settings.js';
import { Connections } from './http/adapter/connections.js';
import { MalformedRequestMiddleware } from './http/adapter/malformed-request.middleware.js';
import { ServiceAdapter } from './http/adapter/service-adapter.js';
import { DirectRouter } from './http/direct/direct-router.js';
import { AppLogger, LogBuffer } from './logging/app-logger.js';
import { assignRequestId } from './logging/request-id.middleware.js';
import { RequestLogMiddleware } from './logging/request-log.middleware.js';
import { RequestMetricsMiddleware } from './metrics/request-metrics.middleware.js';
import { serveDocs } from './openapi/swagger-ui.js';
import { PLATFORM_INTERCEPTORS } from './platform.module.js';
import { trustedProxies } from './request-address.js';

const EXPOSED_HEADERS = [
  'Link',
  'Location',
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Deprecation',
  'Sunset',
  'Idempotent-Replayed',
];

/** By how much Node's own limits on requests exceed that on idle connections, in milliseconds; Connections has tighter ones. */
const BEYOND_KEEP_ALIVE_MS = 5_000;

/** Makes the service, not yet listening: main, the command line and every test start from here or from setupApp. */
export async function createApp(options: { logger?: LoggerService | false } = {}): Promise<INestApplication> {
  const early = new LogBuffer();
  const app = await NestFactory.create(AppModule, new ServiceAdapter(), {
    logger: early,
    abortOnError: false,
  });
  const logger: LoggerService | false = options.logger ?? app.get(AppLogger);
  app.useLogger(logger);
  if (logger) early.flushTo(logger);
  return setupApp(app);
}

/** Turns any application made of AppModule, on a ServiceAdapter, into this service. */
export function setupApp(application: INestApplication): INestApplication {
  const app = application as NestExpressApplication;
  const settings = app.get(Settings);
  // Bodies are read behind the guards, by JsonBodyInterceptor; Nest's own parser must never be there first.
  app.getHttpAdapter().registerParserMiddleware = () => undefined;
  // Nest has made the router by now, so that Express's settings of these names come too late.
  const express = app.getHttpAdapter().getInstance() as Application;
  Object.assign(express.router, { caseSensitive: true, strict: true });
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('trust proxy', trustedProxies(settings.trustProxy));
  app.set('query parser', (query: string) => parseQuery(query, '&', '=', { maxKeys: 0 }));
  app.enableVersioning({ type: VersioningType.URI });
  app.use(assignRequestId);
  app.use(app.get(RequestLogMiddleware).use);
  app.use(app.get(RequestMetricsMiddleware).use);
  app.use(app.get(MalformedRequestMiddleware).use);
  if (settings.corsOrigins.length > 0) {
    const [first] = settings.corsOrigins;
    app.enableCors({
      origin: first === '*' ? '*' : [...settings.corsOrigins],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 600,
    });
  }
  serveDocs(app);
  app.get(DirectRouter).standInFrontOf(app);
  guardConnections(app, settings);
  app.get(ResponseCache).enableWhile(once(() => hasOnlyInterceptorsOfThePlatform(app)));
  return app;
}

/** What stands in front of everything: whatever a client sends, or does not, it costs little and others do not notice. */
function guardConnections(app: NestExpressApplication, settings: Settings): void {
  const server = app.getHttpServer();
  app.get(Connections).standInFrontOf(server);
  // Fields beyond Node's own 2,000 would vanish, Authorization with them; MalformedRequestMiddleware refuses them instead.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  server.headersTimeout = settings.keepAliveTimeoutMs + BEYOND_KEEP_ALIVE_MS;
  server.requestTimeout = Math.max(settings.requestTimeoutMs, server.headersTimeout) + BEYOND_KEEP_ALIVE_MS;
}

/** Another one would not see what is answered from memory, and may answer every caller something else. */
function hasOnlyInterceptorsOfThePlatform(app: NestExpressApplication): boolean {
  // Nest gives it to nobody; @nestjs/swagger reads it here as well.
  const { config } = app as unknown as { config: ApplicationConfig };
  const isOurs = (interceptor: object) => PLATFORM_INTERCEPTORS.includes(interceptor.constructor as Type);
  return config.getGlobalInterceptors().every(isOurs) && config.getGlobalRequestInterceptors().length === 0;
}

/** Asks at the first request, when everything global is there, and never again. */
function once<T>(ask: () => T): () => T {
  let answer: { readonly value: T } | undefined;
  return () => (answer ??= { value: ask() }).value;
}
