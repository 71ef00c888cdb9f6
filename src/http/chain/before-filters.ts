import type { ArgumentsHost, INestApplication } from '@nestjs/common';
import type { ExceptionFilterMetadata } from '@nestjs/common/interfaces/exceptions/exception-filter-metadata.interface.js';
import { RouterExceptionFilters } from '@nestjs/core/router/router-exception-filters.js';
import type { Request, Response } from 'express';
import { writeRefusal } from '../../core/errors/write-refusal.js';

const ELSEWHERE = 'This version of Nest stores its RouterExceptionFilters elsewhere. Adapt beforeFilters().';

type Prepare = (thrown: unknown, host: ArgumentsHost, isOfModule: boolean) => unknown;

/**
 * Calls `prepare` with each exception of a request before its filter, and with whether the filter may belong to a module. The filter
 * receives the returned or resolved value. Nest has no public hook for this, because a module's filter replaces the service's.
 */
export function beforeFilters(application: INestApplication, prepare: Prepare): void {
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
  // Filters of middlewares are created at registration.
  middlewareModule.register = async (...args) => {
    await register(...args);
    prepareIn(middlewareModule.routerExceptionFilter, prepare);
  };
}

function prepareIn(filters: unknown, prepare: Prepare): void {
  if (!(filters instanceof RouterExceptionFilters)) throw new Error(ELSEWHERE);
  const create = filters.create.bind(filters);
  filters.create = (...args) => {
    const handler = create(...args);
    const { filters: custom } = handler as unknown as {
      readonly filters?: readonly ExceptionFilterMetadata[];
    };
    if (!Array.isArray(custom)) throw new Error(ELSEWHERE);
    // The service has one for all routes.
    const isOfModule = custom.length > 1;
    handler.setCustomFilters(custom.map((filter) => ({ ...filter, func: refusing(filter.func) })));
    const handle = handler.next.bind(handler);
    handler.next = (thrown: unknown, host) => {
      const prepared = prepare(thrown, host, isOfModule);
      if (prepared instanceof Promise)
        prepared
          .then((exception) => handle(exception as Error, host))
          .catch((failure) => refuse(failure, host));
      else handle(prepared as Error, host);
    };
    return handler;
  };
}

/**
 * Wraps a filter so that the service handles its own errors. Otherwise Express would send a stack trace, or a rejecting filter would leave
 * the response open.
 */
function refusing(filter: ExceptionFilterMetadata['func']): ExceptionFilterMetadata['func'] {
  return (exception: unknown, host: ArgumentsHost): unknown => {
    // A filter that rethrows its exception leaves it to the service.
    const failed = (failure: unknown): void =>
      refuse(failure === exception ? host.getArgByIndex<Request>(0).exception : failure, host);
    try {
      const result: unknown = filter(exception, host);
      return result instanceof Promise ? result.catch(failed) : result;
    } catch (failure) {
      return failed(failure);
    }
  };
}

function refuse(failure: unknown, host: ArgumentsHost): void {
  const [request, response] = host.getArgs<[Request, Response]>();
  writeRefusal(failure, request, response);
}
