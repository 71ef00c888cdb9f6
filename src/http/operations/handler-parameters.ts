import { type ExecutionContext, Req, type Type } from '@nestjs/common';
import {
  CUSTOM_ROUTE_ARGS_METADATA,
  PARAMTYPES_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request } from 'express';
import { partReadBy, replaceHandler } from '../../core/execution-context.js';

/** Nest's record of one decorated parameter of a handler. */
export interface HandlerParameter {
  readonly index: number;
  /** Its kind, such as body; `custom` for a decorator of `createParamDecorator()`. */
  readonly kind: RouteParamtypes | 'custom';
  /** The decorator's argument, such as the name of a path parameter. */
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
  readonly schema?: unknown;
  /** Computes the value of a custom parameter. */
  readonly factory?: (data: unknown, context: ExecutionContext) => unknown;
  /** Its declared type, as emitted by TypeScript. */
  readonly metatype: Type | undefined;
  /** Whether wrapHandler() has added it after the declared ones. */
  readonly isAdded: boolean;
}

/** The decorated parameters of a controller's method. Only this function knows how Nest stores them. */
export function parametersOf(controller: Type, method: string): HandlerParameter[] {
  const metadata = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Readonly<
    Record<string, Omit<HandlerParameter, 'kind' | 'metatype' | 'isAdded'>>
  >;
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) as
    Type[] | undefined;
  // A key consists of kind and index, such as `5:0`; the key of a custom decorator contains this marker.
  return Object.entries(metadata).map(([key, parameter]) => ({
    ...parameter,
    kind: key.includes(CUSTOM_ROUTE_ARGS_METADATA) ? 'custom' : Number(key.split(':', 1)[0]),
    metatype: types?.[parameter.index],
    isAdded: types !== undefined && parameter.index >= types.length,
  }));
}

/** Whether a parameter's value depends only on the request target. The response object does not depend on the request. */
export function dependsOnTargetAlone({ kind, factory }: HandlerParameter): boolean {
  if (kind === 'custom') return partReadBy(factory) === 'target';
  return [RouteParamtypes.QUERY, RouteParamtypes.PARAM, RouteParamtypes.RESPONSE].includes(kind);
}

const { BODY, RAW_BODY, FILE, FILES, REQUEST } = RouteParamtypes;
/** The parameters through which Nest passes a body. */
const OF_BODY: ReadonlySet<unknown> = new Set([BODY, RAW_BODY, FILE, FILES, REQUEST]);

/** Whether a handler may receive a request's body through this parameter. */
export function mayReadBody({ kind, factory, isAdded }: HandlerParameter): boolean {
  return kind === 'custom' ? partReadBy(factory) === undefined : OF_BODY.has(kind) && !isAdded;
}

/**
 * Runs `wrapper` instead of a handler, with the request and a function that runs the handler. Nest passes arguments by index, so the
 * request is added as a parameter after the declared ones. The handler does not receive it.
 */
export function wrapHandler(
  prototype: object,
  method: string | symbol,
  descriptor: PropertyDescriptor,
  wrapper: (request: Request, handler: () => unknown) => unknown,
): void {
  const parameters = parametersOf(prototype.constructor as Type, String(method));
  const added = Math.max(-1, ...parameters.map(({ index }) => index)) + 1;
  Req()(prototype, method, added);
  replaceHandler(
    descriptor,
    (handler) =>
      function (...args) {
        const request = args[added] as Request | undefined;
        const run = () => handler.apply(this, args.slice(0, added));
        // Without a request, the call does not come from Nest, but from a test or an overriding method.
        return request ? wrapper(request, run) : run();
      },
  );
}

/** Whether a method that receives the response object still leaves sending to the chain (`passthrough: true`). */
export function leavesResponseToHandler(controller: Type, method: string): boolean {
  return Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, method) === true;
}

/** The name of a handler in its controller, including inherited ones; undefined for any other function. */
export function methodNameOf(handler: unknown, { prototype }: Type): string | undefined {
  return nameIn(prototype as object, handler);
}

function nameIn(prototype: object | null, method: unknown): string | undefined {
  if (prototype === null) return undefined;
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  const found = own.find(([, { value }]) => value === method);
  return found?.[0] ?? nameIn(Object.getPrototypeOf(prototype) as object | null, method);
}
