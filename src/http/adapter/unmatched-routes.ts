import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ExternalContextCreator, HttpAdapterHost } from '@nestjs/core';
import type { Application, NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { RemovedOperations } from './deprecation/removed-operations.js';

/** Below these nothing is told to a caller without a key. */
const GUARDED_PATHS = ['/v1', '/admin'];

/** What Express keeps of one route. */
interface RouteLayer {
  readonly route?: {
    readonly methods: Readonly<Record<string, boolean>>;
    readonly stack: readonly { readonly handle: { readonly name: string } }[];
  };
  match(path: string): boolean;
}

/**
 * Answers what no route matches under /v1 and /admin (404, 405, a broken percent-encoding) and sends it through the same
 * guards as a route: it needs a key, counts, and carries the headers. Nest alone never runs guards for it.
 */
@Injectable()
export class UnmatchedRoutes implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly contexts: ExternalContextCreator,
    private readonly removed: RemovedOperations,
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
    const express = this.adapterHost.httpAdapter.getInstance<Application>();
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
    const allowed = this.methodsOf(path);
    if (allowed.length === 0) throw new ApiError(HTTP_ERRORS.route_not_found);
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

  private methodsOf(path: string): string[] {
    const { stack } = this.adapterHost.httpAdapter.getInstance<{ router: { stack: RouteLayer[] } }>().router;
    const methods = new Set<string>();
    let isPath = false;
    for (const layer of stack) {
      if (!layer.route || !layer.match(path)) continue;
      isPath = true;
      if (layer.route.stack.some(({ handle }) => this.removed.has(handle.name))) continue;
      for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
    }
    if (!isPath) return [];
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
