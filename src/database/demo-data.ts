import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** Demo data of one feature: a provider marked with `@ProvidesDemoData()`. */
export interface DemoDataProvider {
  /** Number of existing rows, demo data or not. */
  count(): Promise<number>;
  /** Adds `count` realistic rows, or the whole demo set of the feature if omitted, and returns their number. It may report its progress. */
  add(count?: number, onProgress?: (added: number) => void): Promise<number>;
}

/** Marks a provider as a feature's DemoDataProvider: the first start and `petstore db seed` find it. */
export const ProvidesDemoData = DiscoveryService.createDecorator();

/** The demo data of all features together. */
@Injectable()
export class DemoData {
  constructor(private readonly discovery: DiscoveryService) {}

  /** Whether no feature with demo data has a row. */
  async isAbsent(): Promise<boolean> {
    const counts = await Promise.all(this.providers().map((provider) => provider.count()));
    return counts.every((count) => count === 0);
  }

  /** Adds demo data to every feature that provides some, reports progress, and returns the number of added rows. */
  async add(count?: number, onProgress?: (added: number, of: number) => void): Promise<number> {
    const providers = this.providers();
    const all = (count ?? 0) * providers.length;
    let added = 0;
    for (const provider of providers) {
      const before = added;
      added += await provider.add(count, (more) => onProgress?.(before + more, all));
      onProgress?.(added, all);
    }
    return added;
  }

  private providers(): DemoDataProvider[] {
    return this.discovery
      .getProviders({ metadataKey: ProvidesDemoData.KEY })
      .map(({ instance }) => instance as DemoDataProvider);
  }
}
