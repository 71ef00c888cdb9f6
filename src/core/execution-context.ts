import type { ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/** The HTTP request of a guard; undefined for a gateway's message, to which keys and quotas do not apply. Throws for other protocols. */
export function requestOf(context: ExecutionContext): Request | undefined {
  const protocol = context.getType<string>();
  if (protocol === 'http') return context.getArgByIndex<Request>(0);
  if (protocol === 'ws') return undefined;
  throw new Error(
    `The guards of the platform support only HTTP and WebSockets, and refuse requests over the protocol "${protocol}".`,
  );
}

/** The response to the request that requestOf() returns. */
export function responseOf(context: ExecutionContext): Response {
  return context.getArgByIndex<Response>(1);
}

/**
 * What a guard returns that admits a request at once, but takes long enough that all requests of a group shall pass it before the next
 * guard: with `true`, Nest would continue with each of them, which takes 5 % longer.
 */
export const ADMITTED = Promise.resolve(true);

/** Which part of a request a custom parameter's factory may read. Undeclared factories may read its body. */
const PARTS = new WeakMap<object, 'target' | 'head'>();

/** Declares, and returns, a custom parameter's factory that reads at most this part of a request. */
export function reading<Factory extends object>(part: 'target' | 'head', factory: Factory): Factory {
  PARTS.set(factory, part);
  return factory;
}

/** The part of a request that a factory is declared to read; undefined for a module's factory. */
export function partReadBy(factory: object | undefined): 'target' | 'head' | undefined {
  return factory && PARTS.get(factory);
}

type Target = ReturnType<ExecutionContext['getHandler']> | ReturnType<ExecutionContext['getClass']>;

/** A value derived from the metadata of a handler and its controller, cached because reading metadata takes about 1 µs. */
export class HandlerMetadata<T> {
  private readonly known = new WeakMap<object, WeakMap<object, { readonly value: T }>>();

  /** `read` receives the handler and its controller, in the order of Nest's Reflector. */
  constructor(private readonly read: (targets: [handler: Target, controller: Target]) => T) {}

  /** The value for the handler of a request. */
  of(context: ExecutionContext): T {
    return this.for(context.getHandler(), context.getClass());
  }

  for(handler: Target, controller: Target): T {
    let ofController = this.known.get(controller);
    if (!ofController) this.known.set(controller, (ofController = new WeakMap()));
    let known = ofController.get(handler);
    if (!known) ofController.set(handler, (known = { value: this.read([handler, controller]) }));
    return known.value;
  }
}

/** A handler, as passed to a method decorator. */
export type Handler = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces the handler in a method decorator, keeping its name and the metadata of other decorators. */
export function replaceHandler(descriptor: PropertyDescriptor, replace: (handler: Handler) => Handler): void {
  const handler = descriptor.value as Handler;
  const replaced = replace(handler);
  for (const key of Reflect.getMetadataKeys(handler) as unknown[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), replaced);
  Object.defineProperty(replaced, 'name', { value: handler.name });
  descriptor.value = replaced;
}
