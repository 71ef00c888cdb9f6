import type { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** A provider's method and the metadata of its decorator. */
export interface ProviderMethod<Declared> {
  readonly declared: Declared;
  /** Such as `Mailer.send`. */
  readonly source: string;
  readonly call: (...args: unknown[]) => unknown;
}

/**
 * The methods of all providers with a decorator's metadata, in module order. Throws for a request-scoped provider, whose methods nothing
 * could call outside a request.
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
