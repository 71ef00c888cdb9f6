import {
  type ArgumentMetadata,
  type CanActivate,
  ForbiddenException,
  type HttpServer,
  type Type,
  VersioningType,
} from '@nestjs/common';
import * as nestKeys from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { RouteParamsFactory } from '@nestjs/core/router/route-params-factory.js';
import { RouterResponseController } from '@nestjs/core/router/router-response-controller.js';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { EmptyError, fromEvent, isObservable, lastValueFrom, takeUntil } from 'rxjs';
import { cachedHandlerOf } from '../caching/cached.decorator.js';
import { ErrorFilter } from '../error.filter.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';
import { ValidationPipe } from '../validation/validation.pipe.js';
import type { Handler } from '../../core/handler-metadata.js';
import type { DeclaredOperation } from './declared-operation.js';
import { type HandlerParameter, leavesResponse, parametersOf } from './handler-parameters.js';

/** The parts of an application that decide what runs around a handler. */
export interface RoutedApplication {
  readonly discovery: DiscoveryService;
  readonly config: ApplicationConfig;
}

/** Nest's metadata keys on controllers and handlers that are heeded here, or that change nothing of how a request is answered. */
const HEEDED: ReadonlySet<unknown> = new Set([
  nestKeys.CONTROLLER_WATERMARK,
  nestKeys.INJECTABLE_WATERMARK,
  nestKeys.HTTP_CODE_METADATA,
  nestKeys.METHOD_METADATA,
  nestKeys.OPTIONAL_DEPS_METADATA,
  nestKeys.OPTIONAL_PROPERTY_DEPS_METADATA,
  nestKeys.PARAMTYPES_METADATA,
  nestKeys.PATH_METADATA,
  nestKeys.PROPERTY_DEPS_METADATA,
  nestKeys.RESPONSE_PASSTHROUGH_METADATA,
  nestKeys.ROUTE_ARGS_METADATA,
  nestKeys.SCOPE_OPTIONS_METADATA,
  nestKeys.SELF_DECLARED_DEPS_METADATA,
  nestKeys.VERSION_METADATA,
]);
const NEST_KEYS: ReadonlySet<unknown> = new Set(Object.values(nestKeys));

const { BODY, QUERY, PARAM, HEADERS, REQUEST, RESPONSE, IP } = RouteParamtypes;
/** The kinds of parameters whose values pass the pipes. */
const PIPED = new Map<unknown, ArgumentMetadata['type']>([
  [BODY, 'body'],
  [QUERY, 'query'],
  [PARAM, 'param'],
  ['custom', 'custom'],
]);
const KINDS: ReadonlySet<unknown> = new Set([...PIPED.keys(), HEADERS, REQUEST, RESPONSE, IP]);

/**
 * Nest's execution context of an HTTP request, which guards ask for the request some ten times: Nest's own makes three functions each
 * time.
 */
class DirectContext extends ExecutionContextHost {
  override switchToHttp(): this {
    return this;
  }

  // Nest declares these type parameters: the caller states the type that it expects.
  /* eslint-disable typescript/no-unnecessary-type-parameters */
  getRequest<T>(): T {
    return this.getArgByIndex<T>(0);
  }

  getResponse<T>(): T {
    return this.getArgByIndex<T>(1);
  }

  getNext<T>(): T {
    return this.getArgByIndex<T>(2);
  }
}

/**
 * Runs a handler that nothing but global guards and pipes, `@Cached()` and `@Idempotent()` is around, without Nest's own chain, which
 * takes a third more time for a cached list and a seventh more for a POST. Undefined for every other handler, such as one with other
 * interceptors or filters, beside a global interceptor of a module, or of a request-scoped controller: Nest runs that one.
 */
export function directRoute(
  { prototype, method }: DeclaredOperation,
  { discovery, config }: RoutedApplication,
  adapter: HttpServer,
  onRequest: (() => void) | undefined,
): RequestHandler | undefined {
  const handler = (prototype as Record<string, unknown>)[method] as Handler;
  const [wrapper, ...others] = discovery
    .getControllers()
    .filter(({ instance }) => (instance as Record<string, unknown> | null)?.[method] === handler);
  const controller = wrapper?.metatype as Type;
  if (!wrapper?.isDependencyTreeStatic() || others.length > 0 || !isPlain(config)) return undefined;
  if (wrapper.instance.constructor !== controller) return undefined;
  if (hasUnheededKey(handler) || hasUnheededKey(controller) || hasUnheededKey(controller, method))
    return undefined;
  const parameters = parametersOf(controller, method);
  const isRun = parameters.every(
    ({ kind, pipes = [] }) =>
      KINDS.has(kind) && pipes.length === 0 && (kind !== RESPONSE || leavesResponse(controller, method)),
  );
  if (!isRun) return undefined;
  const guards = config.getGlobalGuards();
  const status = Reflect.getMetadata(nestKeys.HTTP_CODE_METADATA, handler) as number;
  // Another pipe might refuse what is cached.
  const isOurs = config.getGlobalPipes().every((pipe) => pipe instanceof ValidationPipe);
  const cached = isOurs ? cachedHandlerOf(handler) : undefined;
  const run = (cached?.handler ?? handler).bind(wrapper.instance);
  const call = calling(run, parameters, config);
  const isIdempotent = Reflect.hasMetadata(nestKeys.INTERCEPTORS_METADATA, handler);
  const interceptor: unknown = wrapper.host?.injectables.get(IdempotencyInterceptor)?.instance;
  if (isIdempotent && !(interceptor instanceof IdempotencyInterceptor)) return undefined;
  const idempotency = isIdempotent ? (interceptor as IdempotencyInterceptor) : undefined;
  const responses = new RouterResponseController(adapter);
  const [filter] = config.getGlobalFilters();
  const refuse = filter?.catch.bind(filter);
  const answerOf = (request: Request, context: DirectContext): unknown => {
    if (cached) return cached.answer(request, () => call(context));
    return idempotency ? idempotency.around(context, () => call(context)) : call(context);
  };

  return async (request: Request, response: Response, next: NextFunction) => {
    onRequest?.();
    const context = new DirectContext([request, response, next], controller, handler);
    try {
      for (const guard of guards) {
        const verdict = guard.canActivate(context);
        if (verdict !== true && !(await isAdmitted(verdict)))
          throw new ForbiddenException('Forbidden resource');
      }
      response.statusCode = status;
      const answer = await answerOf(request, context);
      // Its client has gone before: nothing would end a subscription.
      if (isObservable(answer) && response.closed) return;
      const sent = isObservable(answer)
        ? await lastValueFrom(answer.pipe(takeUntil(fromEvent(response, 'close'))))
        : answer;
      if (typeof sent === 'object' && sent !== null && isStreamingBody(sent))
        await responses.stream(sent, response, request);
      else adapter.reply(response, sent);
    } catch (error) {
      // An Observable was given up because its client is gone.
      if (!(error instanceof EmptyError && response.closed)) refuse?.(error, context);
    }
  };
}

async function isAdmitted(verdict: ReturnType<CanActivate['canActivate']>): Promise<boolean> {
  const settled = await verdict;
  return isObservable(settled) ? lastValueFrom(settled) : settled;
}

/** Whether there is nothing global but what this file runs. */
function isPlain(config: ApplicationConfig): boolean {
  const versioning = config.getVersioning();
  return (
    config.getGlobalFilters().every((filter) => filter.constructor === ErrorFilter) &&
    (!versioning || versioning.type === VersioningType.URI) &&
    [
      config.getGlobalInterceptors(),
      config.getGlobalRequestGuards(),
      config.getGlobalRequestInterceptors(),
      config.getGlobalRequestPipes(),
      config.getGlobalRequestFilters(),
    ].every((parts) => parts.length === 0)
  );
}

/** `@Idempotent()` brings an interceptor that can do without Nest's chain. */
function isIdempotency(key: unknown, value: unknown): boolean {
  return (
    key === nestKeys.INTERCEPTORS_METADATA &&
    (value as unknown[]).every((interceptor) => interceptor === IdempotencyInterceptor)
  );
}

/** A key without a value is none: Nest sets the key of the host on every controller, mostly to undefined. */
function hasUnheededKey(...of: [target: object, method?: string]): boolean {
  return Reflect.getMetadataKeys(...(of as [object, string])).some((key) => {
    const value = Reflect.getMetadata(key, ...(of as [object, string])) as unknown;
    return NEST_KEYS.has(key) && !HEEDED.has(key) && value !== undefined && !isIdempotency(key, value);
  });
}

/** Pipes and handler. The pipes of all parameters start together, and the first one that rejects decides the answer, as in Nest. */
function calling(
  handler: Handler,
  parameters: readonly HandlerParameter[],
  config: ApplicationConfig,
): (context: DirectContext) => Promise<unknown> {
  const values = new RouteParamsFactory(config);
  const pipes = config.getGlobalPipes();
  const valueOf = ({ kind, data, factory }: HandlerParameter, context: DirectContext): unknown => {
    if (kind === 'custom') return factory?.(data, context);
    const [req, res, next] = context.getArgs<[Request, Response, NextFunction]>();
    return values.exchangeKeyForValue(kind, data as string, { req, res, next });
  };
  const piped = async (value: unknown, metadata: ArgumentMetadata): Promise<unknown> => {
    let found = await value;
    for (const pipe of pipes) found = (await pipe.transform(found, metadata)) as unknown;
    return found;
  };
  const planned = parameters.map((parameter) => {
    const { kind, metatype, data, schema } = parameter;
    const type = PIPED.get(kind);
    return { parameter, metadata: type && ({ type, metatype, data, schema } as ArgumentMetadata) };
  });
  return async (context) => {
    const args: unknown[] = [];
    for (const { parameter, metadata } of planned) {
      const value = valueOf(parameter, context);
      args[parameter.index] = metadata ? piped(value, metadata) : value;
    }
    return handler(...(planned.length === 0 ? args : await Promise.all(args)));
  };
}
