import type { Request, RequestHandler, Response } from 'express';
import { writeRefusal } from '../../errors/error.filter.js';
import type { ExpressPrototypes } from '../adapter/service-adapter.js';
import type { FoundRoute } from './direct-routes.js';

const nothing = (): void => undefined;

/**
 * Gives a request and its response what Express gives them. The properties come before the prototypes: added to an object
 * whose prototype was changed they cost some 10 µs more.
 */
export function dress(
  express: ExpressPrototypes,
  request: Request,
  response: Response,
  { parameters, route }: FoundRoute,
): void {
  request.res = response;
  request.next = nothing;
  request.originalUrl = request.url;
  request.baseUrl = '';
  request.params = parameters;
  request.route = route.ofExpress;
  response.req = request;
  response.locals = {};
  Object.setPrototypeOf(request, express.request);
  Object.setPrototypeOf(response, express.response);
}

/** Runs middlewares one after the other as Express does, and then what is behind them; their refusal is answered. */
export function runMiddlewares(
  [first, ...others]: readonly RequestHandler[],
  request: Request,
  response: Response,
  behind: () => void,
): void {
  if (!first) {
    behind();
    return;
  }
  const refuse = (error: unknown): void => writeRefusal(error, request, response);
  const next = (error?: unknown): void => {
    if (error === undefined || error === null || error === 'route')
      runMiddlewares(others, request, response, behind);
    else refuse(error);
  };
  try {
    const running: unknown = first(request, response, next);
    if (running instanceof Promise) running.catch(refuse);
  } catch (error) {
    refuse(error);
  }
}
