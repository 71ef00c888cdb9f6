import { Injectable } from '@nestjs/common';
import { KeyCache } from '../../auth/clients/key-cache.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { ResponseCache } from './response-cache.js';

/** Metrics of a process's caches. */
@Injectable()
export class CacheMetrics {
  constructor(metrics: Metrics, keys: KeyCache, responses: ResponseCache) {
    const caches = Object.entries({ keys, responses });
    metrics.counter(
      'petstore_cache_lookups_total',
      'Lookups in the caches of keys and responses, by result: hit, or miss if the database was read.',
      ['cache', 'outcome'],
      () =>
        caches.flatMap(([cache, { use }]) => [
          { labels: { cache, outcome: 'hit' }, value: use.hits },
          { labels: { cache, outcome: 'miss' }, value: use.misses },
        ]),
    );
    metrics.gauge('petstore_cache_entries', 'Entries in a cache.', ['cache'], () =>
      caches.map(([cache, { size }]) => ({ labels: { cache }, value: size })),
    );
    metrics.gauge(
      'petstore_response_cache_bytes',
      'Approximate memory of the cached responses.',
      [],
      () => responses.bytes,
    );
    metrics.gauge(
      'petstore_response_cache_max_bytes',
      'The memory that cached responses may use (RESPONSE_CACHE_MIB).',
      [],
      () => responses.maxBytes,
    );
  }
}
