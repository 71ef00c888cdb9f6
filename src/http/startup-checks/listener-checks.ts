import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { declaredEvents } from '../../events/domain-events.js';
import type { Findings } from './checked-handlers.js';

/** Under which @nestjs/event-emitter keeps what a method listens to; the package does not export it. */
const LISTENER = 'EVENT_LISTENER_METADATA';

/** Checks that what methods listen to is published by somebody. */
export function checkListeners(discovery: DiscoveryService, { warnings }: Findings): void {
  const declared = declaredEvents();
  const scanner = new MetadataScanner();
  for (const { instance } of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const prototype: unknown = typeof instance === 'object' && instance && Object.getPrototypeOf(instance);
    if (!isMethods(prototype)) continue;
    for (const method of scanner.getAllMethodNames(prototype))
      for (const { event } of listenersOf(prototype[method]))
        if (typeof event === 'string' && !event.includes('*') && !declared.has(event))
          warnings.push(
            `${prototype.constructor.name}.${method}: nobody declares the event "${event}" that it listens to. ` +
              'Use @OnDomainEvent() with what defineEvent() has made.',
          );
  }
}

function isMethods(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function listenersOf(method: unknown): readonly { readonly event: unknown }[] {
  if (typeof method !== 'function') return [];
  return (Reflect.getMetadata(LISTENER, method) ?? []) as { event: unknown }[];
}
