import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ExternalContextCreator, HttpAdapterHost } from '@nestjs/core';
import type { Application, NextFunction, Request, Response } from 'express';
import { DeprecationService } from '../../deprecation/deprecation.guards.js';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { type RegisteredRoute, ServiceAdapter } from './service-adapter.js';

/** Below these nothing is told to a caller without a key. */
const GUARDED_PATHS = ['/v1', '/admin'];

/**
 * Answers what no route matches under /v1 and /admin (404, 405, a broken percent-encoding) and sends it through the same
 * guards as a route: it needs a key, counts, and carries the headers. Nest alone never runs guards for it. Behind all routes
 * stands each path once more, for every method: a request that comes so far has a path, but not the method.
 */
@Injectable()
export class UnmatchedRoutes implements OnModuleInit {
  /** The routes whose path a request has; none for most. */
  private readonly ofPath = new WeakMap<Request, RegisteredRoute[]>();

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly contexts: ExternalContextCreator,
    private readonly deprecations: DeprecationService,
  ) {}

  /** Nest calls this when all routes are registered and its own 404 is not yet. */
  onModuleInit(): void {
    const throughChain = this.contexts.create(
      this,
      this.refuse as never,
      'refuse',
      undefined,
      undefined,
      undefined,
      undefined,
      { guards: true, interceptors: true, filters: false },
    );
    const answer = (request: Request, response: Response, next: NextFunction): void => {
      void throughChain(request, response, next).then((body: unknown) => response.end(body), next);
    };
    const { httpAdapter } = this.adapterHost;
    const express = httpAdapter.getInstance<Application>();
    // On another adapter every such request is told that there is no such path.
    if (httpAdapter instanceof ServiceAdapter) this.noteRoutes(express, httpAdapter.routes);
    express.use(GUARDED_PATHS, answer);
    express.use(GUARDED_PATHS, (error: unknown, request: Request, response: Response, next: NextFunction) => {
      if (error instanceof URIError) answer(request, response, next);
      else next(error);
    });
  }

  /** Always throws, except that a plain OPTIONS is told the methods of its path (RFC 9110 section 9.3.7). */
  refuse = (request: Request, response: Response): undefined => {
    const path = request.originalUrl.split('?', 1)[0] ?? '/';
    if (!isDecodable(path)) throw brokenEncoding();
    const allowed = this.methodsOf(request);
    // A route may have left the request to others, for its host or its version.
    if (allowed.length === 0 || (allowed.includes(request.method) && request.method !== 'OPTIONS'))
      throw new ApiError(HTTP_ERRORS.route_not_found);
    const allow = allowed.join(', ');
    if (request.method === 'OPTIONS') {
      response.status(204).setHeader('Allow', allow);
      return undefined;
    }
    throw new ApiError(HTTP_ERRORS.method_not_allowed, {
      params: { method: request.method, allowed: allow },
      headers: { Allow: allow },
    });
  };

  /** Lets Express tell which routes have the path of a request, in whatever form they were declared. */
  private noteRoutes(express: Application, routes: readonly RegisteredRoute[]): void {
    const byPath = new Map<string, RegisteredRoute[]>();
    for (const route of routes) byPath.set(route.path, [...(byPath.get(route.path) ?? []), route]);
    for (const [path, ofPath] of byPath)
      express.route(path).all((request, _response, next) => {
        this.ofPath.set(request, [...(this.ofPath.get(request) ?? []), ...ofPath]);
        // No route is what answers it, in logs and metrics either.
        request.route = undefined;
        next();
      });
  }

  private methodsOf(request: Request): string[] {
    const routes = this.ofPath.get(request);
    if (!routes || routes.some(({ method }) => method === 'ALL')) return [];
    const methods = new Set(
      routes.filter(({ handler }) => !this.deprecations.isRemoved(handler)).map(({ method }) => method),
    );
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')].toSorted();
  }
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
