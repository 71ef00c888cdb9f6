import type { Server } from 'node:http';
import { Logger, RequestMethod, type NestApplicationOptions } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type RequestHandler } from 'express';
import { CompiledOperation } from './compiled-operation.js';
import { declaredOperationOf, type DeclaredOperation } from './declared-operation.js';
import { planOf, type OperationPlan, type PlannedApplication } from './operation-plan.js';
import { placeOf } from './place.js';
import { traced, type TracedOperation } from './operation-tracing.js';
import { serverOf } from './service-server.js';

/**
 * How many connections may wait to be accepted: as many as the kernel keeps (net.core.somaxconn on Linux, 4,096 by default). Of
 * those that come at once beyond Node's own 511 the rest would wait for the kernel's next tries, after 1, 3 and 7 s.
 */
const BACKLOG = 65_535;

/** The adapter's methods by which Nest registers routes. */
type RouteMethod =
  | 'get'
  | 'post'
  | 'put'
  | 'patch'
  | 'delete'
  | 'head'
  | 'options'
  | 'all'
  | 'search'
  | 'query'
  | 'propfind'
  | 'proppatch'
  | 'mkcol'
  | 'copy'
  | 'move'
  | 'lock'
  | 'unlock';

/** The arguments of a registration. Express's `get()` also takes the name of a setting and nothing else. */
type RouteArguments = [path: unknown] | [path: unknown, handler: RequestHandler];

/** A route as it was registered. */
export interface RegisteredRoute {
  /** Such as GET; `ALL` for a route of every method. */
  readonly method: string;
  readonly path: string;
  /** The function that was registered; one of Nest's has the metadata of the controller's method. */
  readonly handler: RequestHandler;
}

/**
 * Nest's Express adapter for this service, for `NestFactory.create()` and the testing module alike. It reads no body,
 * distinguishes paths by case and trailing slash, lists all routes, and runs the operations that it can compile. Express still
 * finds the route of a request and runs the middlewares before it. Nest's options `forceCloseConnections` and
 * `return503OnClosing` have no effect, because graceful-stop.ts stops the service.
 */
export class ServiceAdapter extends ExpressAdapter {
  private readonly operations = new Logger('Operations');
  private readonly registered: RegisteredRoute[] = [];
  /** Paths that Nest's adapter has converted from an older syntax. Their declared form is not known here, so Nest runs them. */
  private readonly rewritten = new Set<string>();
  private application: PlannedApplication | undefined;
  /** Why Nest runs operations that `@Operation()` declares: each reason once. */
  readonly runByNest = new Set<string>();

  constructor() {
    const application = express();
    // Express makes its router when the first middleware is added, which Nest's adapter does, and reads its settings only then.
    application.enable('case sensitive routing');
    application.enable('strict routing');
    super(application);
  }

  /**
   * Makes the adapter compile the operations of this application when Nest registers them. Without this call Nest runs them
   * all.
   */
  compileOperationsOf(application: PlannedApplication): void {
    this.application = application;
  }

  /** All registered routes, in the order of their registration. */
  get routes(): readonly RegisteredRoute[] {
    return this.registered;
  }

  override normalizePath(path: string): string {
    const normalized = super.normalizePath(path);
    if (normalized !== path) this.rewritten.add(normalized);
    return normalized;
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

  /** Registers no body parser: JsonBodyInterceptor reads the bodies, after the guards. */
  override registerParserMiddleware(): void {}

  override get(...args: RouteArguments): unknown {
    return this.route('get', args);
  }
  override post(...args: RouteArguments): unknown {
    return this.route('post', args);
  }
  override put(...args: RouteArguments): unknown {
    return this.route('put', args);
  }
  override patch(...args: RouteArguments): unknown {
    return this.route('patch', args);
  }
  override delete(...args: RouteArguments): unknown {
    return this.route('delete', args);
  }
  override head(...args: RouteArguments): unknown {
    return this.route('head', args);
  }
  override options(...args: RouteArguments): unknown {
    return this.route('options', args);
  }
  override all(...args: RouteArguments): unknown {
    return this.route('all', args);
  }
  override search(...args: RouteArguments): unknown {
    return this.route('search', args);
  }
  override query(...args: RouteArguments): unknown {
    return this.route('query', args);
  }
  override propfind(...args: RouteArguments): unknown {
    return this.route('propfind', args);
  }
  override proppatch(...args: RouteArguments): unknown {
    return this.route('proppatch', args);
  }
  override mkcol(...args: RouteArguments): unknown {
    return this.route('mkcol', args);
  }
  override copy(...args: RouteArguments): unknown {
    return this.route('copy', args);
  }
  override move(...args: RouteArguments): unknown {
    return this.route('move', args);
  }
  override lock(...args: RouteArguments): unknown {
    return this.route('lock', args);
  }
  override unlock(...args: RouteArguments): unknown {
    return this.route('unlock', args);
  }

  /** Registers a route with Express. The handler of a controller's method is traced, and compiled if possible. */
  private route(method: RouteMethod, args: RouteArguments): unknown {
    const [path, handler] = args;
    if (typeof path === 'string' && handler) {
      const route = { method: method.toUpperCase(), path, handler };
      this.registered.push(route);
      args = [path, this.handlerOf(route)];
    }
    const instance = this.getInstance<Record<RouteMethod, (...args: RouteArguments) => unknown>>();
    return instance[method](...args);
  }

  private handlerOf(route: RegisteredRoute): RequestHandler {
    const { method, path, handler } = route;
    // Nest copies the metadata of a controller's method to the function that it registers.
    if (!Reflect.hasMetadata(PATH_METADATA, handler)) return handler;
    const declared = declaredOperationOf(handler);
    const compiled = this.compiled(route, declared);
    const run = traced(compiled ?? handler, {
      method,
      route: path,
      controller: declared?.prototype.constructor as TracedOperation['controller'],
      handler: declared?.method,
      operation: declared?.id,
      isCompiled: compiled !== undefined,
    });
    return (request, response, next) => {
      const work: unknown = run(request, response, next);
      const place = placeOf(response);
      if (place) place.work = work;
      return work;
    };
  }

  private compiled(
    route: RegisteredRoute,
    declared: DeclaredOperation | undefined,
  ): RequestHandler | undefined {
    const { method, path } = route;
    const plan = this.planOf(path, declared);
    if (typeof plan === 'string') {
      this.operations.debug(`${method} ${path} is run by Nest: ${plan}.`);
      if (declared) this.runByNest.add(plan);
      return undefined;
    }
    const operation = new CompiledOperation(plan, this);
    // The handler that is replaced here calls this hook of Nest's, so the compiled one does, too.
    const onRouteTriggered = this.getOnRouteTriggered();
    if (!onRouteTriggered) return (request, response, next) => operation.run(request, response, next);
    const requestMethod = RequestMethod[method as keyof typeof RequestMethod];
    return (request, response, next) => {
      onRouteTriggered(requestMethod, path);
      return operation.run(request, response, next);
    };
  }

  private planOf(path: string, declared: DeclaredOperation | undefined): OperationPlan | string {
    if (!declared) return 'it is not declared by @Operation()';
    if (!this.application) return 'its application is not made by setupApp()';
    if (this.rewritten.has(path)) return 'its path is of an older syntax';
    return planOf(declared, this.application);
  }
}
