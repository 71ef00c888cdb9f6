import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Clock } from '../clock.js';
import { Settings } from '../config/settings.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { effectiveSunset } from './deprecation.guards.js';

/** Knows which operations are past their sunset: they are no methods of their paths any more, although they answer 410. */
@Injectable()
export class RemovedOperations {
  /** When the operations of one name go, in ms since the epoch; Infinity for one that stays. */
  private sunsets: ReadonlyMap<string, readonly number[]> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** `name` is that of a route's handler as Nest gives it: `PetsController.getPet`. If several have it, all must be removed. */
  has(name: string): boolean {
    this.sunsets ??= this.read();
    const now = this.clock.now();
    const sunsets = this.sunsets.get(name) ?? [];
    return sunsets.length > 0 && sunsets.every((sunset) => sunset <= now);
  }

  private read(): ReadonlyMap<string, readonly number[]> {
    const sunsets = new Map<string, number[]>();
    for (const { instance, name } of this.discovery.getControllers()) {
      const prototype = Object.getPrototypeOf(instance ?? {}) as Record<string, object>;
      for (const method of this.scanner.getAllMethodNames(prototype)) {
        const deprecation = Reflect.getMetadata(DEPRECATION, prototype[method] ?? {}) as
          Deprecation | undefined;
        const sunset = deprecation ? effectiveSunset(deprecation, this.settings) : Infinity;
        const handler = `${name}.${method}`;
        sunsets.set(handler, [...(sunsets.get(handler) ?? []), sunset]);
      }
    }
    return sunsets;
  }
}
