import type { ArgumentMetadata, Type } from '@nestjs/common';
import {
  CUSTOM_ROUTE_ARGS_METADATA,
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  HEADERS_METADATA,
  HOST_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ContextUtils } from '@nestjs/core/helpers/context-utils.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { RouteParamsFactory } from '@nestjs/core/router/route-params-factory.js';
import { ANSWERS_JSON } from './answers-json.js';
import type { DirectContext } from './direct-context.js';

/** A handler that asks nothing of Nest but its parameters. */
export interface PlainOperation {
  readonly instance: object;
  readonly controller: Type;
  readonly handler: (...args: unknown[]) => unknown;
  readonly status: number;
  readonly parameters: readonly HandlerParameter[];
}

/** One parameter of a handler: where it stands, and where its value comes from. */
export interface HandlerParameter {
  readonly index: number;
  readonly valueIn: (context: DirectContext) => unknown;
  /** What pipes are told of it; undefined for what Nest applies none to: the request, the response, headers. */
  readonly metadata: ArgumentMetadata | undefined;
}

/** What Nest keeps of a parameter. */
interface ParameterMetadata {
  readonly index: number;
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
  readonly schema?: unknown;
  readonly factory?: (data: unknown, context: DirectContext) => unknown;
}

/** Metadata of a handler or its controller by which it asks more of Nest. */
const SPECIAL: Readonly<Record<string, string>> = {
  [GUARDS_METADATA]: 'guards of its own',
  [INTERCEPTORS_METADATA]: 'interceptors of its own',
  [PIPES_METADATA]: 'pipes of its own',
  [EXCEPTION_FILTERS_METADATA]: 'exception filters of its own',
  [HEADERS_METADATA]: 'headers of its own',
  [HOST_METADATA]: 'a host of its own',
  [REDIRECT_METADATA]: 'a redirection',
  [RENDER_METADATA]: 'a view',
  [SSE_METADATA]: 'server-sent events',
};

/** How pipes are told of what they are applied to, by the kind of parameter. */
const PIPED: ReadonlyMap<RouteParamtypes, ArgumentMetadata['type']> = new Map([
  [RouteParamtypes.BODY, 'body'],
  [RouteParamtypes.QUERY, 'query'],
  [RouteParamtypes.PARAM, 'param'],
]);
const UNPIPED = new Set([
  RouteParamtypes.REQUEST,
  RouteParamtypes.RESPONSE,
  RouteParamtypes.HEADERS,
  RouteParamtypes.IP,
]);

const nothing = (): void => undefined;
const contexts = new ContextUtils();
const routeParameters = new RouteParamsFactory();

/** The handler of a controller as a plain operation; a sentence instead that says what only Nest can do. */
export function plainOperationOf(
  controller: InstanceWrapper<object>,
  method: string,
): PlainOperation | string {
  const { instance } = controller;
  const handler = (instance as Record<string, unknown>)[method] as PlainOperation['handler'];
  if (!controller.isDependencyTreeStatic()) return 'its controller is not a singleton';
  if (!Reflect.hasMetadata(ANSWERS_JSON, handler)) return 'it is not declared by @Operation()';
  // Nest gives every controller a host, which is undefined where it has none.
  const special = Object.keys(SPECIAL).find(
    (key) =>
      Reflect.hasMetadata(key, handler) || Reflect.getMetadata(key, instance.constructor) !== undefined,
  );
  if (special !== undefined) return `it has ${SPECIAL[special]}`;
  const parameters = parametersOf(instance, method);
  if (typeof parameters === 'string') return parameters;
  return {
    instance,
    controller: instance.constructor as Type,
    handler,
    status: Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number,
    parameters,
  };
}

function parametersOf(instance: object, method: string): HandlerParameter[] | string {
  const declared: Readonly<Record<string, ParameterMetadata>> =
    contexts.reflectCallbackMetadata(instance, method, ROUTE_ARGS_METADATA) ?? {};
  const types: Type[] | undefined = contexts.reflectCallbackParamtypes(instance, method);
  const parameters: HandlerParameter[] = [];
  for (const [key, parameter] of Object.entries(declared)) {
    if ((parameter.pipes ?? []).length > 0) return 'a parameter has pipes of its own';
    const read = parameterOf(key, parameter, types?.[parameter.index]);
    if (!read) return 'a parameter is of a kind that only Nest provides';
    if (key.startsWith(`${RouteParamtypes.RESPONSE}:`) && !contexts.reflectPassthrough(instance, method))
      return 'it writes its response itself';
    parameters.push(read);
  }
  return parameters;
}

function parameterOf(
  key: string,
  { index, data, factory, schema }: ParameterMetadata,
  metatype: Type | undefined,
): HandlerParameter | undefined {
  const metadataAs = (type: ArgumentMetadata['type']) =>
    ({ type, metatype, data, schema }) as unknown as ArgumentMetadata;
  if (key.includes(CUSTOM_ROUTE_ARGS_METADATA)) {
    return { index, valueIn: (context) => factory?.(data, context), metadata: metadataAs('custom') };
  }
  const kind = Number(key.split(':')[0]) as RouteParamtypes;
  const piped = PIPED.get(kind);
  if (piped === undefined && !UNPIPED.has(kind)) return undefined;
  const valueIn = (context: DirectContext): unknown => {
    const [req, res] = [context.getRequest<object>(), context.getResponse<object>()];
    return routeParameters.exchangeKeyForValue(kind, data as string, { req, res, next: nothing }) as unknown;
  };
  return { index, valueIn, metadata: piped && metadataAs(piped) };
}
