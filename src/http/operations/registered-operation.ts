import type { ExecutionContext, Type } from '@nestjs/common';
import { HEADERS_METADATA, PATH_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { DECLARATIONS, type DeclaredOperation } from '../../core/declared-operation.js';
import { HandlerMetadata } from '../../core/execution-context.js';
import { type Consumption, consumptionOf } from './consumption.js';
import { type HandlerParameter, methodNameOf, parametersOf } from './handler-parameters.js';

/** A controller's handler with everything declared on both. */
export interface RegisteredOperation extends DeclaredOperation {
  /** Such as `PetsController.listPets`. */
  readonly name: string;
  readonly controller: Type;
  /** The handler's name in its controller; empty for a function that is not a method. */
  readonly method: string;
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
  readonly parameters: readonly HandlerParameter[];
  readonly consumption: Consumption;
  /** Media type of its responses. */
  readonly responseType: string;
}

/** Operations by handler and controller, cached because guards read them for every request. */
export const OPERATIONS = new HandlerMetadata<RegisteredOperation>(([handler, target]) => {
  const controller = target as Type;
  const method = methodNameOf(handler, controller) ?? '';
  return {
    ...DECLARATIONS.for(handler, controller),
    name: `${controller.name}.${method}`,
    controller,
    method,
    handler,
    parameters: parametersOf(controller, method),
    consumption: consumptionOf(handler, controller, method),
    responseType: responseTypeOf(handler),
  };
});

/** The operations of all controllers, without duplicates, because a controller may be in several modules. */
export function operationsOf(discovery: DiscoveryService): RegisteredOperation[] {
  const scanner = new MetadataScanner();
  const controllers = new Set(discovery.getControllers().map(({ metatype }) => metatype as Type));
  return [...controllers].flatMap((controller) => {
    const prototype = controller.prototype as Readonly<Record<string, RegisteredOperation['handler']>>;
    return scanner.getAllMethodNames(prototype).flatMap((method) => {
      const handler = prototype[method];
      if (!handler || !Reflect.hasMetadata(PATH_METADATA, handler)) return [];
      return OPERATIONS.for(handler, controller);
    });
  });
}

/** Metadata of Nest and its packages for an operation: from its handler or, by default, its controller. */
export function metadataOf(
  { handler, controller }: Pick<RegisteredOperation, 'handler' | 'controller'>,
  key: string,
): unknown {
  return Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
}

function responseTypeOf(handler: object): string {
  if (Reflect.hasMetadata(SSE_METADATA, handler)) return 'text/event-stream';
  const headers = Reflect.getMetadata(HEADERS_METADATA, handler) as
    { name: string; value: string | (() => string) }[] | undefined;
  const own = headers?.find(({ name }) => name.toLowerCase() === 'content-type')?.value;
  const type = typeof own === 'function' ? own() : own;
  return type?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/json';
}
