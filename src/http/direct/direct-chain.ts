import type { CanActivate, NestInterceptor, PipeTransform } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { ErrorFilter } from '../../errors/error.filter.js';
import { AsyncInterceptor } from '../async.interceptor.js';

/** What Nest runs around every operation, in its order. */
export interface DirectChain {
  readonly guards: readonly CanActivate[];
  readonly interceptors: readonly AsyncInterceptor[];
  readonly pipes: readonly PipeTransform[];
}

/** The chain of an application; a sentence instead when something is in it that only Nest can run. */
export function directChainOf(config: ApplicationConfig): DirectChain | string {
  const interceptors = config.getGlobalInterceptors();
  const isAsync = (one: NestInterceptor): one is AsyncInterceptor =>
    one instanceof AsyncInterceptor && one.intercept === AsyncInterceptor.prototype.intercept;
  if (!interceptors.every(isAsync)) return 'a global interceptor is not a AsyncInterceptor';
  // One derived from it may write something else.
  if (!config.getGlobalFilters().every((filter) => filter.constructor === ErrorFilter))
    return 'there is a global exception filter besides ErrorFilter';
  const ofRequest = [
    ...config.getGlobalRequestGuards(),
    ...config.getGlobalRequestInterceptors(),
    ...config.getGlobalRequestPipes(),
    ...config.getGlobalRequestFilters(),
  ];
  if (ofRequest.length > 0) return 'a global guard, interceptor, pipe or filter is request-scoped';
  return { guards: config.getGlobalGuards(), interceptors, pipes: config.getGlobalPipes() };
}
