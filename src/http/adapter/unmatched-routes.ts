import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ExternalContextCreator, HttpAdapterHost } from '@nestjs/core';
import type { Application, ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { PUBLIC_ROUTE } from '../../auth/auth.decorators.js';
import { DeprecationService } from '../deprecation/deprecation.guards.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { RequestSlot } from '../../core/request-slot.js';
import { consumptionOf, ignoreBodies } from '../body/consumes.decorator.js';
import { declaredOperationOf } from './declared-operation.js';
import { versionOf } from '../path-version.js';
import { type RegisteredRoute, routesOf } from './registered-routes.js';

/**
 * Below these paths, below each other version, and below the first segment of each operation that needs a key, a caller without
 * one is not told which paths exist.
 */
const GUARDED_PATHS = ['/v1', '/account', '/admin'];
/** The first segment of a path, if it is literal. */
const FIRST_SEGMENT = /^\/[\w.~-]+/;

const READ_ONLY = new RequestSlot<true>();

/** Notes that something is served at the path of a request, but not for its method: it takes GET and HEAD alone. */
export function noteReadOnly(request: Request): void {
  READ_ONLY.set(request, true);
}

/**
 * Answers requests that no route matches (404, 405, a broken percent-encoding). They pass the same guards as other requests: they need
 * a key, count towards the quota, and the answer carries the headers. Nest alone runs no guards for them. Elsewhere than under /v1,
 * /account and /admin no key is needed: without one they count for their address. After all routes, each of their paths is registered
 * again for every method. A request that gets there has a known path, but no route for its method.
 */
@Injectable()
export class UnmatchedRoutes implements OnModuleInit {
  /** The routes that have the path of a request; nothing is stored for a request that a route answers. */
  private readonly ofPath = new WeakMap<Request, RegisteredRoute[]>();

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly contexts: ExternalContextCreator,
    private readonly deprecations: DeprecationService,
  ) {}

  /** Nest calls this after it has registered all routes, and before it registers its own 404. */
  onModuleInit(): void {
    Reflect.defineMetadata(PUBLIC_ROUTE, true, this.refuseAnyone);
    const answer = this.throughChain('refuse');
    const answerAnyone = this.throughChain('refuseAnyone');
    const elsewhere: RequestHandler = (request, response, next) =>
      (request.headers.authorization === undefined ? answerAnyone : answer)(request, response, next);
    const { httpAdapter } = this.adapterHost;
    const express = httpAdapter.getInstance<Application>();
    const routes = routesOf(express);
    this.noteRoutes(express, routes);
    const guarded = [...new Set([...GUARDED_PATHS, ...routes.flatMap(guardedPathOf)])];
    express.use(guarded, answer, undecodable(answer));
    // In place of Nest's own 404, behind whatever modules serve.
    const setNotFoundHandler = httpAdapter.setNotFoundHandler?.bind(httpAdapter);
    httpAdapter.setNotFoundHandler = (_, ...rest) => {
      setNotFoundHandler?.(elsewhere, ...rest);
      express.use(undecodable(elsewhere));
    };
  }

  /** A handler that has the guards of the chain run before a method of this class. */
  private throughChain(method: 'refuse' | 'refuseAnyone'): RequestHandler {
    // A path that does not exist takes no type of body: 404 and 405 come before 415, 413 and 400.
    ignoreBodies(this[method]);
    const run = this.contexts.create(
      this,
      this[method] as never,
      method,
      undefined,
      undefined,
      undefined,
      undefined,
      { guards: true, interceptors: true, filters: false },
    );
    return (request, response, next) => {
      void run(request, response, next).then((body: unknown) => response.end(body), next);
    };
  }

  /**
   * Always throws, except for OPTIONS on a known path, which is answered with the methods of the path (RFC 9110 section 9.3.7).
   */
  refuse = (request: Request, response: Response): undefined => {
    const path = request.originalUrl.split('?', 1)[0] ?? '/';
    if (!isDecodable(path)) throw brokenEncoding();
    const allowed = this.methodsOf(request);
    // A route of this path and method may have passed the request on, because it is for another host or version.
    if (allowed.length === 0 || (allowed.includes(request.method) && request.method !== 'OPTIONS'))
      throw new ApiError(HTTP_ERRORS.route_not_found);
    const allow = allowed.join(', ');
    if (request.method === 'OPTIONS') {
      response.status(204).setHeader('Allow', allow);
      const patched = this.ofPath.get(request)?.find(({ method }) => method === 'PATCH');
      if (patched) response.setHeader('Accept-Patch', patchTypesOf(patched).join(', '));
      return undefined;
    }
    throw new ApiError(HTTP_ERRORS.method_not_allowed, {
      params: { method: request.method, allowed: allow },
      headers: { Allow: allow },
    });
  };

  /** For a caller without a key. */
  refuseAnyone = (request: Request, response: Response): undefined => this.refuse(request, response);

  /**
   * Registers each path again, so that Express itself finds which routes have the path of a request, in whatever syntax they
   * were declared.
   */
  private noteRoutes(express: Application, routes: readonly RegisteredRoute[]): void {
    const byPath = new Map<string, RegisteredRoute[]>();
    for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
    for (const [path, ofPath] of byPath)
      express.route(path).all((request, _response, next) => {
        this.ofPath.set(request, [...(this.ofPath.get(request) ?? []), ...ofPath]);
        // Express has set this to the route made here. Logs and metrics must show that no route of the service matched.
        request.route = undefined;
        next();
      });
  }

  private methodsOf(request: Request): string[] {
    if (READ_ONLY.get(request)) return ['GET', 'HEAD', 'OPTIONS'];
    const routes = this.ofPath.get(request);
    if (!routes || routes.some(({ method }) => method === 'ALL')) return [];
    const methods = new Set(
      routes.filter(({ handler }) => !this.deprecations.isRemoved(handler)).map(({ method }) => method),
    );
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')].toSorted();
  }
}

/** The media types that a PATCH takes (RFC 5789 section 3.1). */
function patchTypesOf({ handler }: RegisteredRoute): readonly string[] {
  const declared = declaredOperationOf(handler);
  return declared
    ? consumptionOf(handler, declared.prototype.constructor as Type, declared.method).types
    : [];
}

/** The first segment of a path with a version, and of the path of an operation that needs a key; none for other routes. */
function guardedPathOf({ path, handler }: RegisteredRoute): readonly string[] {
  const version = versionOf(path);
  if (version !== undefined) return [`/v${version}`];
  const declared = declaredOperationOf(handler);
  if (!declared) return [];
  const { constructor } = declared.prototype;
  if ([handler, constructor].some((target) => Reflect.hasMetadata(PUBLIC_ROUTE, target))) return [];
  return FIRST_SEGMENT.exec(path) ?? [];
}

/** Has a handler answer also where Express cannot decode a parameter of the path. */
function undecodable(answer: RequestHandler): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (error instanceof URIError) answer(request, response, next);
    else next(error);
  };
}

function brokenEncoding(): ApiError {
  const params = { reason: 'its path holds a broken percent-encoding' };
  return new ApiError(HTTP_ERRORS.malformed_request, { params });
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
