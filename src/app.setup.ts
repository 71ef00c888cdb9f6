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
import { declarationFault } from './core/declaration-faults.js';
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
  /** Where its log goes: by default to standard output. */
  readonly logger?: LoggerService | false;
  /** Modules to add to AppModule: by default those that `petstore.modules` of the project's package.json names. */
  readonly modules?: readonly Type[];
  /**
   * Defaults of settings by variable, such as `{ API_TITLE: 'My API' }`, which the environment and .env replace. Commands do not know
   * them: what holds for commands too is `petstore.settings` in package.json.
   */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Provides the defaults of settings that createApp() is given. */
@Module({})
class DefaultSettingsModule {}

/**
 * Creates the service, which does not listen yet. main, the command line and every test begin with this function or with
 * setupApp(). Throws DeclarationError when the modules of the project cannot be imported.
 */
export async function createApp(options: AppOptions = {}): Promise<INestApplication> {
  const modules = options.modules ?? (await projectModules());
  const defaults = [{ provide: DEFAULT_SETTINGS, useValue: options.settings }];
  const settings = { module: DefaultSettingsModule, global: true, providers: defaults, exports: defaults };
  const root = { module: AppModule, imports: [settings, ...modules] };
  // With `autoFlushLogs` Nest would print every line of a start that fails; the start reports the fault in one line.
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

/** Sets up an application of AppModule, on a ServiceAdapter, as this service. */
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
  // Another versioning that was enabled before is refused when the application is started, as one that is enabled later.
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
    // Only a preflight gets its response before the guards; any other OPTIONS is an ordinary request.
    app.enableCors((request: Request, answer: (error: null, options: typeof cors) => void) => {
      const options = { ...cors, preflightContinue: !isPreflight(request) };
      answer(null, options);
    });
    // A preflight is served even under overload: without its response a page could not read the 503 of its request.
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

/** The guards and the filter of the chain know HTTP: a message of a microservice that had them would get no response. */
function refuseInheritedConfig(app: NestExpressApplication): void {
  const connect = app.connectMicroservice.bind(app);
  app.connectMicroservice = (options, hybrid = {}) => {
    if (hybrid.inheritAppConfig === true)
      declarationFault(
        'connectMicroservice(…, { inheritAppConfig: true }): the global guards, pipes and filters of the service are for HTTP. ' +
          'Remove inheritAppConfig, and put guards on the handlers of messages with @UseGuards().',
      );
    return connect(options, hybrid);
  };
}

/** Whether a module applies middlewares, which may send a response before the guards have counted its request. */
function hasMiddlewares(modules: ModulesContainer): boolean {
  return [...modules.values()].some(({ instance }) => 'configure' in instance);
}

/** Combines middlewares into one, because each costs Express's router more time than it needs. A request of a command passes none. */
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
      // A middleware that refuses a request returns a promise, which rejects.
      if (running instanceof Promise) running.then(undefined, next);
    };
    step();
  };
}

/** Limits what a connection can cost: whatever a client sends, or fails to send, must cost little and must not affect other clients. */
function guardConnections(app: NestExpressApplication, server: Server, settings: Settings): void {
  app.get(Connections).attachTo(server);
  // By default Node drops header fields after the first 2,000, and Authorization may be among them. MalformedRequestMiddleware
  // refuses such a request instead.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  // Node would swap the two if this one were longer.
  server.headersTimeout = Math.min(settings.headersTimeoutMs, settings.requestTimeoutMs);
  server.requestTimeout = settings.requestTimeoutMs;
}

/**
 * Sets up Nest's own Express adapter, which a test kit may use, like ServiceAdapter: bodies are left unread, and paths differ
 * by case and trailing slash.
 */
function configurePlainAdapter(adapter: HttpServer): void {
  adapter.registerParserMiddleware = () => undefined;
  const { router } = adapter.getInstance() as Application;
  Object.assign(router, { caseSensitive: true, strict: true });
}

/**
 * The global guards, interceptors, pipes and filters of an application. Nest has no public access to them; @nestjs/swagger
 * reads the same property.
 */
function configOf(app: NestExpressApplication): ApplicationConfig {
  const { config } = app as unknown as { config: unknown };
  if (config instanceof ApplicationConfig) return config;
  throw new Error('This version of Nest keeps its ApplicationConfig elsewhere: configOf() has to follow.');
}
