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
import { ErrorFilter } from '../../errors/error.filter.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import type { DeclaredOperation } from './declared-operation.js';
import { type HandlerParameter, leavesResponse, parametersOf } from './handler-parameters.js';
import type { OperationContext } from './operation-context.js';

/** Everything that answering a request for one operation takes. */
export interface OperationPlan {
  readonly instance: object;
  readonly controller: Type;
  readonly handler: (...args: unknown[]) => unknown;
  readonly status: number;
  readonly parameters: readonly PlannedParameter[];
  readonly guards: readonly CanActivate[];
  readonly interceptors: readonly AsyncInterceptor[];
  readonly pipes: readonly PipeTransform[];
}

/** One parameter of a handler: where it stands, and where its value comes from. */
export interface PlannedParameter {
  readonly index: number;
  readonly valueIn: (context: OperationContext) => unknown;
  /** What pipes are told of it; undefined for what Nest applies none to: the request, the response, headers. */
  readonly metadata: ArgumentMetadata | undefined;
}

/** What of an application a plan is made from. */
export interface PlannedApplication {
  readonly discovery: DiscoveryService;
  readonly config: ApplicationConfig;
}

/** Metadata of Nest's on a controller or handler that a plan knows the meaning of, or that says nothing of answering. */
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

/** All keys of Nest's. Whatever else stands on a handler is read by guards and interceptors alone, which are run all the same. */
const NEST_KEYS: ReadonlySet<unknown> = new Set(Object.values(nestKeys));

/**
 * Plans an operation, at the moment when Nest makes its own chain for it and of the same things. A sentence instead says what
 * it has that a plan does not know for sure, so that Nest has to run it.
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
  // Class decorators and mixins may put something else there; Nest looks for the metadata of such a class in several places.
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
  const interceptors = chain.interceptors.filter((interceptor) => interceptor.concerns(handler));
  return { instance, controller, handler, status, parameters, ...chain, interceptors };
}

/** What Nest runs around every operation, in its order; a sentence instead when something is in it that only Nest can run. */
function chainOf(
  config: ApplicationConfig,
): Pick<OperationPlan, 'guards' | 'interceptors' | 'pipes'> | string {
  const interceptors = config.getGlobalInterceptors();
  const isAsync = (one: NestInterceptor): one is AsyncInterceptor =>
    one instanceof AsyncInterceptor && one.intercept === AsyncInterceptor.prototype.intercept;
  if (!interceptors.every(isAsync)) return 'a global interceptor is not a AsyncInterceptor';
  const filters = config.getGlobalFilters();
  // One derived from it may write something else.
  if (filters.length === 0 || !filters.every((filter) => filter.constructor === ErrorFilter))
    return 'ErrorFilter is not the only global exception filter';
  const ofRequest = [
    ...config.getGlobalRequestGuards(),
    ...config.getGlobalRequestInterceptors(),
    ...config.getGlobalRequestPipes(),
    ...config.getGlobalRequestFilters(),
  ];
  if (ofRequest.length > 0) return 'a global guard, interceptor, pipe or filter is request-scoped';
  return {
    guards: [...config.getGlobalGuards()],
    interceptors: [...interceptors],
    pipes: [...config.getGlobalPipes()],
  };
}

/** A key of Nest's metadata whose meaning a plan does not know. Nest gives every controller a host, mostly undefined. */
function unknownKeyOf(target: object, method?: string): string | undefined {
  const of = (method === undefined ? [target] : [target, method]) as [object, string];
  const unknown = Reflect.getMetadataKeys(...of).find(
    (key) => NEST_KEYS.has(key) && !KNOWN_KEYS.has(key) && Reflect.getMetadata(key, ...of) !== undefined,
  ) as string | undefined;
  return unknown;
}

/** A version by a header or a media type is looked at for each request. */
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

/** The kinds of parameters whose value pipes see: how they are told of it, and where the value is. */
const PIPED: Partial<
  Record<RouteParamtypes, { type: ArgumentMetadata['type']; of: (context: OperationContext) => unknown }>
> = {
  [RouteParamtypes.BODY]: { type: 'body', of: ({ request }) => request.body as unknown },
  [RouteParamtypes.QUERY]: { type: 'query', of: ({ request }) => request.query },
  [RouteParamtypes.PARAM]: { type: 'param', of: ({ request }) => request.params },
};

/** Those whose value no pipe sees. */
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
  // Of a body that is no object Nest picks a property by rules of its own.
  if (!piped || (kind === RouteParamtypes.BODY && name !== undefined))
    return 'a parameter is of a kind that only Nest provides';
  const { type, of } = piped;
  const valueIn = (context: OperationContext): unknown =>
    name === undefined ? of(context) : (of(context) as Record<string, unknown>)[name];
  return { index, valueIn, metadata: metadataAs(type) };
}
