import type { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** A method of a provider, and what a decorator declares of it. */
export interface ProviderMethod<Declared> {
  readonly declared: Declared;
  /** Such as `Mailer.send`. */
  readonly source: string;
  readonly call: (...args: unknown[]) => unknown;
}

/**
 * The methods of all providers that carry a decorator's metadata, in the order of the modules. Throws for one of a provider that
 * Nest creates for each request: nothing calls it outside of one.
 */
export function providerMethods<Declared>(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  metadata: symbol,
): ProviderMethod<Declared>[] {
  return discovery.getProviders().flatMap((wrapper) => {
    // For a request-scoped provider, this is its prototype.
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null || wrapper.isAlias) return [];
    const prototype = Object.getPrototypeOf(instance) as object | null;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const method = (instance as Record<string, unknown>)[name];
      const declared = (typeof method === 'function' ? Reflect.getMetadata(metadata, method) : undefined) as
        Declared | undefined;
      if (declared === undefined || typeof method !== 'function') return [];
      const source = `${String(wrapper.name)}.${name}`;
      if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient)
        throw new Error(`${source} needs a singleton provider, but this one is created for each request.`);
      const call = (...args: unknown[]): unknown => Reflect.apply(method, instance, args);
      return [{ declared, source, call }];
    });
  });
}
