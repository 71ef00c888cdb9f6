import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { type HandlerParameter, parametersOf } from '../adapter/handler-parameters.js';

/** What the checks found: what certainly goes wrong, and what probably does. Each is one line that says what to do. */
export interface Findings {
  readonly faults: string[];
  readonly warnings: string[];
}

/** A method of a controller that answers a route, with what its decorators declare. */
export interface CheckedHandler {
  /** Such as `PetsController.listPets`. */
  readonly name: string;
  readonly controller: Type;
  readonly handlerName: string;
  readonly handler: object;
  readonly method: RequestMethod;
  /** Every path of it, without version and global prefix, such as `pets/:petId`. */
  readonly paths: readonly string[];
  readonly parameters: readonly HandlerParameter[];
}

/** The handlers of all routes. */
export function checkedHandlers(discovery: DiscoveryService): CheckedHandler[] {
  const scanner = new MetadataScanner();
  const controllers = new Set(discovery.getControllers().map(({ metatype }) => metatype as Type));
  return [...controllers].flatMap((controller) => {
    const prototype = controller.prototype as Record<string, object>;
    return scanner
      .getAllMethodNames(prototype)
      .filter((method) => Reflect.hasMetadata(PATH_METADATA, prototype[method] ?? {}))
      .map((method) => checkedHandler(controller, method, prototype[method] ?? {}));
  });
}

function checkedHandler(controller: Type, method: string, handler: object): CheckedHandler {
  const paths = pathsOf(controller).flatMap((prefix) => pathsOf(handler).map((path) => `${prefix}/${path}`));
  return {
    name: `${controller.name}.${method}`,
    controller,
    handlerName: method,
    handler,
    method: Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod,
    paths,
    parameters: parametersOf(controller, method),
  };
}

function pathsOf(target: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[]].flat();
}

/** Metadata of a handler, or of its controller where the handler has none. */
export function declaredOf(key: string, { handler, controller }: CheckedHandler): unknown {
  return Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller);
}
