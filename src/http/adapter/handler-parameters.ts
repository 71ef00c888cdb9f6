import type { ExecutionContext, Type } from '@nestjs/common';
import {
  CUSTOM_ROUTE_ARGS_METADATA,
  PARAMTYPES_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';

/** What Nest keeps of one decorated parameter of a handler. */
export interface HandlerParameter {
  /** Where it stands among the parameters. */
  readonly index: number;
  /** What it holds; `custom` for a decorator made by `createParamDecorator()`. */
  readonly kind: RouteParamtypes | 'custom';
  /** What the decorator was given, such as the name of a path parameter. */
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
  readonly schema?: unknown;
  /** Finds the value of a custom parameter. */
  readonly factory?: (data: unknown, context: ExecutionContext) => unknown;
  /** Its declared type, as TypeScript emits it. */
  readonly metatype: Type | undefined;
}

/** The decorated parameters of a controller's method: the only reader of how Nest keeps them. */
export function parametersOf(controller: Type, method: string): HandlerParameter[] {
  const kept = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Readonly<
    Record<string, Omit<HandlerParameter, 'kind' | 'metatype'>>
  >;
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) as
    Type[] | undefined;
  // A key is the kind and the index, `5:0`, or a name of its own with this marker for a custom decorator.
  return Object.entries(kept).map(([key, parameter]) => ({
    ...parameter,
    kind: key.includes(CUSTOM_ROUTE_ARGS_METADATA) ? 'custom' : Number(key.split(':', 1)[0]),
    metatype: types?.[parameter.index],
  }));
}

/** Whether a method that is given the response leaves answering to the chain all the same. */
export function leavesResponse(controller: Type, method: string): boolean {
  return Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method) === true;
}
