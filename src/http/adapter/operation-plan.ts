import {
  type ArgumentMetadata,
  type CanActivate,
  type NestInterceptor,
  type PipeTransform,
  type Type,
  VersioningType,
} from '@nestjs/common';
import * as nestKeys from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { ErrorFilter } from '../../core/errors/error.filter.js';
import type { DeclaredOperation } from './declared-operation.js';
import { type HandlerParameter, leavesResponse, parametersOf } from './handler-parameters.js';
import { concerns } from './interceptor-chain.js';
import type { OperationContext } from './operation-context.js';

/** Everything that is needed to answer requests for one operation. */
export interface OperationPlan {
  readonly instance: object;
  readonly controller: Type;
  readonly handler: (...args: unknown[]) => unknown;
  readonly status: number;
  readonly parameters: readonly PlannedParameter[];
  readonly guards: readonly CanActivate[];
  readonly interceptors: readonly NestInterceptor[];
  readonly pipes: readonly PipeTransform[];
}

/** One parameter of a handler: its position, and how its value is found. */
export interface PlannedParameter {
  readonly index: number;
  readonly valueIn: (context: OperationContext) => unknown;
  /** What pipes are told about it; undefined for parameters to which Nest applies no pipes, such as the request and headers. */
  readonly metadata: ArgumentMetadata | undefined;
}

/** The parts of an application that a plan is made from. */
export interface PlannedApplication {
  readonly discovery: DiscoveryService;
  readonly config: ApplicationConfig;
}

/** Nest's metadata keys on controllers and handlers that a plan takes into account, or that have no effect on answering. */
const KNOWN_KEYS: ReadonlySet<unknown> = new Set([
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

/**
 * All of Nest's metadata keys. Metadata under other keys is read only by guards and interceptors, and a plan runs those too.
 */
const NEST_KEYS: ReadonlySet<unknown> = new Set(Object.values(nestKeys));

/** Reasons why Nest has to run every operation, and not one alone that asks for it. */
export const OF_EVERY_OPERATION = {
  filter: 'ErrorFilter is not the only global exception filter',
  scope: 'a global guard, interceptor, pipe or filter is request-scoped',
};

/**
 * Plans an operation at the moment when Nest makes its own chain for it, from the same parts. Returns a sentence if the
 * operation has something that a plan does not know for certain: the reason why Nest has to run it.
 */
export function planOf(
  { prototype, method }: DeclaredOperation,
  { discovery, config }: PlannedApplication,
): OperationPlan | string {
  const chain = chainOf(config);
  if (typeof chain === 'string') return chain;
  const handler = (prototype as Record<string, unknown>)[method] as OperationPlan['handler'];
  const [wrapper, ...others] = discovery
    .getControllers()
    .filter(({ instance }) => (instance as Record<string, unknown> | null)?.[method] === handler);
  if (!wrapper) return 'no controller has its handler as it was declared';
  if (others.length > 0) return 'several controllers have its handler';
  if (!wrapper.isDependencyTreeStatic()) return 'its controller is not a singleton';
  const instance = wrapper.instance as object;
  const controller = wrapper.metatype as Type;
  // A class decorator or mixin may have replaced the class; Nest looks for the metadata of such a class in several places.
  if (instance.constructor !== controller || Object.getPrototypeOf(instance) !== controller.prototype)
    return 'its controller is no plain instance of its class';
  const unknown = unknownKeyOf(handler) ?? unknownKeyOf(controller) ?? unknownKeyOf(controller, method);
  if (unknown !== undefined) return `it has ${unknown}`;
  if (isVersionedByRequest(config, handler, controller)) return 'its version is not told by the path';
  const parameters: PlannedParameter[] = [];
  for (const parameter of parametersOf(controller, method)) {
    const planned = plannedOf(parameter);
    if (typeof planned === 'string') return planned;
    parameters.push(planned);
  }
  if (writesResponse(controller, method)) return 'it writes its response itself';
  const status = Reflect.getMetadata(nestKeys.HTTP_CODE_METADATA, handler) as number;
  const interceptors = chain.interceptors.filter((interceptor) => concerns(interceptor, handler));
  return { instance, controller, handler, status, parameters, ...chain, interceptors };
}

/** What Nest runs around every operation, in its order. Returns a sentence if only Nest can run a part of it: the reason. */
function chainOf(
  config: ApplicationConfig,
): Pick<OperationPlan, 'guards' | 'interceptors' | 'pipes'> | string {
  const filters = config.getGlobalFilters();
  // A subclass of ErrorFilter may write another response.
  if (filters.length === 0 || !filters.every((filter) => filter.constructor === ErrorFilter))
    return OF_EVERY_OPERATION.filter;
  const ofRequest = [
    ...config.getGlobalRequestGuards(),
    ...config.getGlobalRequestInterceptors(),
    ...config.getGlobalRequestPipes(),
    ...config.getGlobalRequestFilters(),
  ];
  if (ofRequest.length > 0) return OF_EVERY_OPERATION.scope;
  return {
    guards: [...config.getGlobalGuards()],
    interceptors: [...config.getGlobalInterceptors()],
    pipes: [...config.getGlobalPipes()],
  };
}

/**
 * A metadata key of Nest's whose meaning a plan does not know. A key without a value is ignored: Nest sets the key of the host
 * on every controller, mostly to undefined.
 */
function unknownKeyOf(target: object, method?: string): string | undefined {
  const of = (method === undefined ? [target] : [target, method]) as [object, string];
  const unknown = Reflect.getMetadataKeys(...of).find(
    (key) => NEST_KEYS.has(key) && !KNOWN_KEYS.has(key) && Reflect.getMetadata(key, ...of) !== undefined,
  ) as string | undefined;
  return unknown;
}

/** Whether the version is in a header or a media type, so that Nest looks for it in each request. */
function isVersionedByRequest(config: ApplicationConfig, handler: object, controller: Type): boolean {
  const versioning = config.getVersioning();
  if (!versioning || versioning.type === VersioningType.URI) return false;
  const ofHandler = Reflect.getMetadata(nestKeys.VERSION_METADATA, handler) as unknown;
  const ofController = Reflect.getMetadata(nestKeys.VERSION_METADATA, controller) as unknown;
  return (ofHandler ?? ofController ?? versioning.defaultVersion) !== undefined;
}

function writesResponse(controller: Type, method: string): boolean {
  const isGiven = parametersOf(controller, method).some(({ kind }) => kind === RouteParamtypes.RESPONSE);
  return isGiven && !leavesResponse(controller, method);
}

/** The kinds of parameters whose values pass the pipes: the type that pipes are told, and where the value is found. */
const PIPED: Partial<
  Record<RouteParamtypes, { type: ArgumentMetadata['type']; of: (context: OperationContext) => unknown }>
> = {
  [RouteParamtypes.BODY]: { type: 'body', of: ({ request }) => request.body as unknown },
  [RouteParamtypes.QUERY]: { type: 'query', of: ({ request }) => request.query },
  [RouteParamtypes.PARAM]: { type: 'param', of: ({ request }) => request.params },
  [RouteParamtypes.RAW_BODY]: {
    type: 'custom',
    of: ({ request }) => (request as { rawBody?: Buffer }).rawBody,
  },
};

/** The kinds of parameters whose values pass no pipes. */
const UNPIPED: Partial<Record<RouteParamtypes, (context: OperationContext) => unknown>> = {
  [RouteParamtypes.REQUEST]: ({ request }) => request,
  [RouteParamtypes.RESPONSE]: ({ response }) => response,
  [RouteParamtypes.IP]: ({ request }) => request.ip,
};

function plannedOf(parameter: HandlerParameter): PlannedParameter | string {
  const { index, kind, data, factory, schema, metatype, pipes = [] } = parameter;
  if (pipes.length > 0) return 'a parameter has pipes of its own';
  const metadataAs = (type: ArgumentMetadata['type']) =>
    ({ type, metatype, data, schema }) as unknown as ArgumentMetadata;
  if (kind === 'custom')
    return { index, valueIn: (context) => factory?.(data, context), metadata: metadataAs('custom') };
  const name = typeof data === 'string' && data !== '' ? data : undefined;
  const unpiped = UNPIPED[kind];
  if (unpiped) return { index, valueIn: unpiped, metadata: undefined };
  if (kind === RouteParamtypes.HEADERS) {
    const field = name?.toLowerCase();
    const valueIn = ({ request: { headers } }: OperationContext) => (field ? headers[field] : headers);
    return { index, valueIn, metadata: undefined };
  }
  const piped = PIPED[kind];
  // Nest has special rules for a property of a body that is not an object.
  if (!piped || (kind === RouteParamtypes.BODY && name !== undefined))
    return 'a parameter is of a kind that only Nest provides';
  const { type, of } = piped;
  const valueIn = (context: OperationContext): unknown =>
    name === undefined ? of(context) : (of(context) as Record<string, unknown>)[name];
  return { index, valueIn, metadata: metadataAs(type) };
}
