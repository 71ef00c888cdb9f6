import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** Demo data of one feature: a provider marked with `@ProvidesDemoData()`. */
export interface DemoDataProvider {
  /** How many rows there are now, demo data or not. */
  count(): Promise<number>;
  /**
   * Adds `count` realistic rows, or the feature's whole demo set when it is omitted; returns their number. One that adds many may report from
   * time to time how many of them are there.
   */
  add(count?: number, onProgress?: (added: number) => void): Promise<number>;
}

/** Marks a provider as a feature's DemoDataProvider: the first start and `petstore db seed` find it. */
export const ProvidesDemoData = DiscoveryService.createDecorator();

/** The demo data of all features together. */
@Injectable()
export class DemoData {
  constructor(private readonly discovery: DiscoveryService) {}

  /** Whether no feature that has demo data holds a row. */
  async isAbsent(): Promise<boolean> {
    const counts = await Promise.all(this.providers().map((provider) => provider.count()));
    return counts.every((count) => count === 0);
  }

  /** Adds demo data to every feature that has some, reports how many of how many rows exist, and returns how many it added. */
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
