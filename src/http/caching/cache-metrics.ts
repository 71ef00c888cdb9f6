import { Injectable } from '@nestjs/common';
import { KeyCache } from '../../auth/key-cache.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { ResponseCache } from './response-cache.js';

/** Shows how the caches of a process are used. */
@Injectable()
export class CacheMetrics {
  constructor(metrics: Metrics, keys: KeyCache, responses: ResponseCache) {
    const caches = Object.entries({ keys, responses });
    metrics.counter(
      'petstore_cache_lookups_total',
      'Questions to a cache: of keys (5 s) and of responses; hit, or miss when the database had to be asked.',
      ['cache', 'outcome'],
      () =>
        caches.flatMap(([cache, { use }]) => [
          { labels: { cache, outcome: 'hit' }, value: use.hits },
          { labels: { cache, outcome: 'miss' }, value: use.misses },
        ]),
    );
    metrics.gauge('petstore_cache_entries', 'What a cache holds.', ['cache'], () =>
      caches.map(([cache, { size }]) => ({ labels: { cache }, value: size })),
    );
  }
}
