import type { ArgumentsHost, INestApplication } from '@nestjs/common';
import { RouterExceptionFilters } from '@nestjs/core/router/router-exception-filters.js';
import type { NextFunction } from 'express';

const ELSEWHERE =
  'This version of Nest keeps its RouterExceptionFilters elsewhere: beforeFilters() has to follow.';

/**
 * Has `prepare` called with each exception of an application's requests before its filter, whichever that is; the filter gets what it
 * returns, or resolves to. Nest has no public place for this: a filter of a module handles an exception instead of that of the service.
 */
export function beforeFilters(
  application: INestApplication,
  prepare: (thrown: unknown, host: ArgumentsHost) => unknown,
): void {
  const { middlewareModule, routesResolver } = application as unknown as {
    readonly middlewareModule?: {
      readonly routerExceptionFilter?: unknown;
      register?: (...args: unknown[]) => Promise<void>;
    };
    readonly routesResolver?: { readonly routerExceptionsFilter: unknown };
  };
  const register = middlewareModule?.register?.bind(middlewareModule);
  if (!middlewareModule || !register) throw new Error(ELSEWHERE);
  prepareIn(routesResolver?.routerExceptionsFilter, prepare);
  // The filters of middlewares are made when they are registered.
  middlewareModule.register = async (...args) => {
    await register(...args);
    prepareIn(middlewareModule.routerExceptionFilter, prepare);
  };
}

function prepareIn(filters: unknown, prepare: (thrown: unknown, host: ArgumentsHost) => unknown): void {
  if (!(filters instanceof RouterExceptionFilters)) throw new Error(ELSEWHERE);
  const create = filters.create.bind(filters);
  filters.create = (...args) => {
    const handler = create(...args);
    const handle = handler.next.bind(handler);
    handler.next = (thrown: unknown, host) => {
      const prepared = prepare(thrown, host);
      if (prepared instanceof Promise) void handleLater(prepared, host, handle);
      else handle(prepared as Error, host);
    };
    return handler;
  };
}

/** What a filter throws goes to Express, as it does where Nest calls the filter. */
async function handleLater(
  prepared: Promise<unknown>,
  host: ArgumentsHost,
  handle: (exception: Error, host: ArgumentsHost) => void,
): Promise<void> {
  try {
    handle((await prepared) as Error, host);
  } catch (failure) {
    host.switchToHttp().getNext<NextFunction>()(failure);
  }
}
