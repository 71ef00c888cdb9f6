import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';

/** Demo data of one feature: a provider marked with `@ProvidesDemoData()`. */
export interface DemoDataProvider {
  /** How many rows there are now, demo data or not. */
  count(): Promise<number>;
  /** Adds `count` realistic rows, or the feature's whole demo set when it is omitted; answers how many. */
  add(count?: number): Promise<number>;
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

  /** Adds demo data to every feature that has some; answers how many rows. */
  async add(count?: number): Promise<number> {
    let added = 0;
    for (const provider of this.providers()) added += await provider.add(count);
    return added;
  }

  private providers(): DemoDataProvider[] {
    return this.discovery
      .getProviders({ metadataKey: ProvidesDemoData.KEY })
      .map(({ instance }) => instance as DemoDataProvider);
  }
}
