import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, ExternalContextCreator, HttpAdapterHost } from '@nestjs/core';
import type { Application, NextFunction, Request, RequestHandler, Response } from 'express';
import { DeprecationService } from '../deprecation/deprecation.guards.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { DECLARATIONS, declareOperation, declaredOn } from '../../core/declared-operation.js';
import { consumptionOf } from '../operations/consumption.js';
import { type RegisteredRoute, routesOf, versionOf } from '../operations/registered-routes.js';

/** Below these first segments, callers without a key cannot find out which paths exist. */
const GUARDED_SEGMENTS = ['v1', 'account', 'admin'];

/**
 * Handles requests that no route matches (404, 405, invalid percent-encoding). It runs the guards of the chain, which Nest does not run for
 * such requests, so they count toward the quota, and the response has its headers. They require a key below the guarded segments, any
 * version prefix, and the first segment of any operation that requires one. Elsewhere, without a key, they count for their address.
 */
@Injectable()
export class UnmatchedRoutes implements OnModuleInit {
  private routes: readonly RegisteredRoute[] | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly contexts: ExternalContextCreator,
    private readonly deprecations: DeprecationService,
  ) {}

  /** Nest calls this after it has registered all routes and before it registers its own 404, which this replaces. */
  onModuleInit(): void {
    const httpAdapter = this.adapterHost.httpAdapter as AbstractHttpAdapter | null;
    // NestFactory.createApplicationContext() creates no server.
    if (!httpAdapter) return;
    const express = httpAdapter.getInstance<Application>();
    const guarded = new Set([...GUARDED_SEGMENTS, ...routesOf(express).flatMap(guardedSegmentOf)]);
    const anyone = (request: Request, response: Response) => this.pageFor(request, response);
    declareOperation(anyone, { isPublic: true });
    const respond = this.throughChain(this.refuse);
    const respondToAnyone = this.throughChain(anyone);
    const refuse: RequestHandler = (request, response, next) => {
      // A route that has passed the request on must not appear in logs and metrics.
      request.route = undefined;
      const isOpen =
        request.headers.authorization === undefined && !guarded.has(segmentOf(request.originalUrl));
      (isOpen ? respondToAnyone : respond)(request, response, next);
    };
    const setNotFoundHandler = httpAdapter.setNotFoundHandler?.bind(httpAdapter);
    httpAdapter.setNotFoundHandler = (_, ...rest) => {
      setNotFoundHandler?.(refuse, ...rest);
      // Express could not decode a path parameter.
      express.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
        if (error instanceof URIError) refuse(request, response, next);
        else next(error);
      });
    };
  }

  /** Runs the guards of the chain before a handler. */
  private throughChain(
    handler: (request: Request, response: Response) => string | undefined,
  ): RequestHandler {
    const options = { guards: true, interceptors: true, filters: false };
    const none = undefined;
    const run = this.contexts.create(this, handler as never, 'refuse', none, none, none, none, options);
    return (request, response, next) => {
      void run(request, response, next).then((body: unknown) => response.end(body), next);
    };
  }

  /** The page for browsers at an unknown path; all other requests are refused. Paths below the API always get the Error body. */
  private pageFor(request: Request, response: Response): string | undefined {
    refuseUndecodable(request);
    if (!request.missingPage || this.routesAt(request).length > 0) return this.refuse(request, response);
    request.refusalCode = HTTP_ERRORS.route_not_found.code;
    response.status(404).setHeader('Cache-Control', 'no-store');
    return request.missingPage();
  }

  /** Always throws, except for OPTIONS on a known path, whose response lists its methods (RFC 9110 section 9.3.7). */
  private refuse = (request: Request, response: Response): undefined => {
    refuseUndecodable(request);
    const routes = this.routesAt(request);
    const allowed = this.methodsOf(routes);
    const { method } = request;
    // A route for this path and method may have passed the request on because it is for another host or version.
    if (allowed.length === 0 || (allowed.includes(method) && method !== 'OPTIONS'))
      throw new ApiError(HTTP_ERRORS.route_not_found);
    const allow = allowed.join(', ');
    if (method !== 'OPTIONS')
      throw new ApiError(HTTP_ERRORS.method_not_allowed, {
        params: { method, allowed: allow },
        headers: { Allow: allow },
      });
    response.status(204).setHeader('Allow', allow);
    const patch = routes.find((route) => route.method === 'PATCH');
    if (patch) response.setHeader('Accept-Patch', patchTypesOf(patch).join(', '));
    return undefined;
  };

  /** The routes that match the path of a request, whatever their method. */
  private routesAt({ app, path }: Request): RegisteredRoute[] {
    // Pages are registered as late as this handler.
    this.routes ??= routesOf(app);
    return this.routes.filter((route) => route.isAt(path));
  }

  private methodsOf(routes: readonly RegisteredRoute[]): string[] {
    if (routes.length === 0 || routes.some(({ method }) => method === 'ALL')) return [];
    const existing = routes.filter(({ handler }) => !this.deprecations.isRemoved(handler));
    const methods = new Set([...existing.map(({ method }) => method), 'OPTIONS']);
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].toSorted();
  }
}

function refuseUndecodable({ path }: Request): void {
  try {
    decodeURIComponent(path);
  } catch {
    const params = { reason: 'its path contains an invalid percent-encoding' };
    throw new ApiError(HTTP_ERRORS.malformed_request, { params });
  }
}

/** The media types that a PATCH accepts (RFC 5789 section 3.1). */
function patchTypesOf({ handler }: RegisteredRoute): readonly string[] {
  const { controller, method } = declaredOn(handler);
  return controller && method !== undefined ? consumptionOf(handler, controller, method).types : [];
}

/** The first segment of a versioned route or of an operation that requires a key; undefined for other routes. */
function guardedSegmentOf({ path, handler }: RegisteredRoute): readonly string[] {
  const { controller } = declaredOn(handler);
  const isOpen = !controller || DECLARATIONS.for(handler, controller).isPublic;
  return isOpen && versionOf(path) === undefined ? [] : [segmentOf(path)];
}

/** Extracts `v1` from `/v1/pets?limit=5`. */
function segmentOf(target: string): string {
  return target.split(/[/?]/, 2)[1] ?? '';
}
