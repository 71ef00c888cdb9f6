import type { Server } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import {
  type HttpServer,
  type INestApplication,
  Logger,
  type LoggerService,
  Module,
  type Type,
  VersioningType,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request, RequestHandler, Response } from 'express';
import { AdministrationPortMiddleware } from './admin/administration-port.middleware.js';
import { KeyPages } from './admin/console/key-pages.js';
import { DEFAULT_SETTINGS, Settings } from './core/config/settings.js';
import { invalidDeclaration } from './core/declaration-errors.js';
import { projectModules } from './core/project-modules.js';
import { tablesBelow } from './database/tables.module.js';
import { beforeFilters } from './http/chain/before-filters.js';
import { Connections } from './http/server/connections.js';
import { MalformedRequestMiddleware } from './http/server/malformed-request.middleware.js';
import { BodyGuard } from './http/chain/body.guard.js';
import { EarlyResponses } from './http/replies/early-response.js';
import { Exceptions } from './http/chain/exceptions.js';
import { refuseExactly, replyExactly } from './http/replies/reply.js';
import { Overload } from './http/server/overload.js';
import { RequestRecords, assignRequestId, traceRequest } from './http/request-records.js';
import { LateChecks } from './http/declarations/startup-checks.js';
import { ServiceAdapter } from './http/server/service-adapter.js';
import { serverOf } from './http/server/service-server.js';
import { Upgrades } from './http/server/upgrades.js';
import { EXPOSED_HEADERS, isPreflight } from './http/cross-origin.js';
import { AppLogger } from './core/logging/app-logger.js';
import { ManagementServer } from './core/metrics/management-server.js';
import { SwaggerUi } from './docs/openapi/swagger-ui.js';
import { REALM } from './core/errors/write-refusal.js';
import { AppModule } from './root.module.js';
import { PUBLIC_PREFIX, publicPrefix } from './core/public-prefix.js';
import { trustedProxies } from './core/request-address.js';
import { QuotaService } from './throttling/quota.service.js';

export { AppModule };

tablesBelow(AppModule);

/** How the application is created. */
export interface AppOptions {
  /** Logger; by default, writes to standard output. */
  readonly logger?: LoggerService | false;
  /** Modules to add to AppModule; by default, those in `petstore.modules` of the project's package.json. */
  readonly modules?: readonly Type[];
  /**
   * Defaults of settings by variable, such as `{ API_TITLE: 'My API' }`; the environment and .env take precedence. They do not apply to
   * commands: for those, use `petstore.settings` in package.json.
   */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Provides the setting defaults passed to createApp(). */
@Module({})
class DefaultSettingsModule {}

/**
 * Creates the service without listening. main, the command line and every test use this function or setupApp(). Throws DeclarationError if
 * the project's modules cannot be imported.
 */
export async function createApp(options: AppOptions = {}): Promise<INestApplication> {
  const modules = options.modules ?? (await projectModules());
  const defaults = [{ provide: DEFAULT_SETTINGS, useValue: options.settings }];
  const settings = { module: DefaultSettingsModule, global: true, providers: defaults, exports: defaults };
  const root = { module: AppModule, imports: [settings, ...modules] };
  // With `autoFlushLogs`, Nest would print all buffered log lines if startup fails. The caller reports the error itself, in one line.
  const logging = { bufferLogs: true, autoFlushLogs: false, abortOnError: false };
  const app = await NestFactory.create(root, new ServiceAdapter(), logging).catch((error: unknown) => {
    Logger.overrideLogger(false);
    Logger.flush();
    throw error;
  });
  app.useLogger(options.logger ?? app.get(AppLogger));
  app.flushLogs();
  return setupApp(app);
}

/** Turns an application of AppModule into this service. Its HTTP adapter is a ServiceAdapter or Nest's own ExpressAdapter. */
export function setupApp(application: INestApplication): INestApplication {
  const app = application as NestExpressApplication;
  const settings = app.get(Settings);
  const config = configOf(app);
  const adapter = app.getHttpAdapter();
  if (!(adapter instanceof ServiceAdapter)) configurePlainAdapter(adapter);
  replyExactly(adapter);
  refuseExactly(adapter.getInstance<{ readonly response: Response }>());
  app.useGlobalGuards(app.get(BodyGuard));
  app.get(EarlyResponses).watch(config);
  app.get(LateChecks).watch(config);
  const exceptions = app.get(Exceptions);
  beforeFilters(app, (...exception) => exceptions.prepare(...exception));
  app.set('etag', false);
  app.set('x-powered-by', false);
  app.set('trust proxy', trustedProxies(settings.trustProxy));
  app.set('query parser', (query: string) => parseQuery(query, '&', '=', { maxKeys: 0 }));
  app.set(PUBLIC_PREFIX, publicPrefix(settings.publicBaseUrl));
  app.set(REALM, settings.apiRealm);
  // If versioning is already enabled, LateChecks refuses it at startup, as it refuses versioning that is enabled later.
  if (!config.getVersioning()) app.enableVersioning({ type: VersioningType.URI });
  const first = [
    assignRequestId,
    traceRequest,
    app.get(RequestRecords).use,
    app.get(MalformedRequestMiddleware).use,
    ...(settings.adminOn === 'public' ? [] : [app.get(AdministrationPortMiddleware).use]),
  ];
  const last = [
    app.get(Overload).use,
    ...(hasMiddlewares(app.get(ModulesContainer)) ? [app.get(QuotaService).showByDefault] : []),
  ];
  const { corsOrigins } = settings;
  if (corsOrigins.length > 0) {
    app.use(combined(...first));
    const origin = corsOrigins[0] === '*' ? '*' : [...corsOrigins];
    const cors = { origin, exposedHeaders: [...EXPOSED_HEADERS], maxAge: 600 };
    // Only a preflight gets a response before the guards; any other OPTIONS is an ordinary request.
    app.enableCors((request: Request, callback: (error: null, options: typeof cors) => void) => {
      const options = { ...cors, preflightContinue: !isPreflight(request) };
      callback(null, options);
    });
    // Preflights are served even under overload, because a page could not otherwise read the 503 of the request itself.
    app.use(combined(...last));
  } else app.use(combined(...first, ...last));
  app.get(KeyPages).redirectBrowsers(adapter.getInstance());
  refuseInheritedConfig(app);
  app.get(SwaggerUi).documents(app);
  const server = app.getHttpServer();
  guardConnections(app, server, settings);
  app.get(Upgrades).attachTo(server);
  if (settings.adminOn === 'management') {
    const administration = serverOf(adapter.getInstance());
    guardConnections(app, administration, settings);
    app.get(ManagementServer).administer(administration);
  }
  return app;
}

/** The chain's guards and filter expect HTTP, so with them, a microservice's message would get no response. */
function refuseInheritedConfig(app: NestExpressApplication): void {
  const connect = app.connectMicroservice.bind(app);
  app.connectMicroservice = (options, hybrid = {}) => {
    if (hybrid.inheritAppConfig === true)
      invalidDeclaration(
        'connectMicroservice(…, { inheritAppConfig: true }): the global guards, pipes and filters of the service are for HTTP. ' +
          'Remove inheritAppConfig, and put guards on the handlers of messages with @UseGuards().',
      );
    return connect(options, hybrid);
  };
}

/** Whether a module applies middlewares, which may send a response before guards have counted the request. */
function hasMiddlewares(modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ instance }) => 'configure' in instance);
}

/**
 * Combines middlewares into one, because Express's router takes longer for each than the middleware itself. Requests of a command skip
 * them.
 */
function combined(...middlewares: readonly RequestHandler[]): RequestHandler {
  return (request, response, next) => {
    let at = request.requester === undefined ? 0 : middlewares.length;
    const step = (refusal?: unknown): void => {
      const middleware = refusal === undefined ? middlewares[at++] : undefined;
      if (!middleware) {
        next(refusal);
        return;
      }
      const running: unknown = middleware(request, response, step);
      // A middleware that refuses a request returns a rejected promise.
      if (running instanceof Promise) running.then(undefined, next);
    };
    step();
  };
}

/** Limits the cost of a connection: whatever a client sends, or fails to send, must cost little and must not affect other clients. */
function guardConnections(app: NestExpressApplication, server: Server, settings: Settings): void {
  app.get(Connections).attachTo(server);
  // By default, Node drops header fields after the first 2,000, which may include Authorization. MalformedRequestMiddleware refuses such a
  // request instead.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  // If this limit were longer than requestTimeout, Node would swap the two values.
  server.headersTimeout = Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs);
  server.requestTimeout = settings.requestTimeoutMs;
}

/**
 * Configures Nest's own Express adapter, which test kits may use, like ServiceAdapter: bodies are not read, and paths are sensitive to case
 * and trailing slashes.
 */
function configurePlainAdapter(adapter: HttpServer): void {
  adapter.registerParserMiddleware = () => undefined;
  const { router } = adapter.getInstance() as Application;
  Object.assign(router, { caseSensitive: true, strict: true });
}

/**
 * The global guards, interceptors, pipes and filters of an application. Nest has no public API for them; @nestjs/swagger reads the same
 * property.
 */
function configOf(app: NestExpressApplication): ApplicationConfig {
  const { config } = app as unknown as { config: unknown };
  if (config instanceof ApplicationConfig) return config;
  throw new Error('This version of Nest stores its ApplicationConfig elsewhere. Adapt configOf().');
}
