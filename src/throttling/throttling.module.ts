import { type ExecutionContext, Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock } from '../core/time/clock.js';
import { Settings } from '../core/config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { Metrics } from '../core/metrics/metrics.js';
import { MemoryQuotaStore } from './memory/memory-quota-store.js';
import { SoleProcessLock } from './memory/sole-process-lock.js';
import { QuotaJournal } from './memory/quota-journal.js';
import { QuotaStore } from './quota-store.js';
import { quotaSubjectOf } from './quota-policy.js';
import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';
import type { QuotaSubject } from './quota.js';
import { QuotaService } from './quota.service.js';
import { REDIS_PREFIX } from './redis/redis-keys.js';

/** Provides the QuotaStore: in this process, or in Redis with REDIS_URL. */
@Module({
  imports: [DatabaseModule],
  providers: [
    QuotaJournal,
    {
      provide: MemoryQuotaStore,
      inject: [Settings, QuotaJournal, Clock],
      // With Redis, this store is only the fallback, and its decisions are not written to the journal.
      useFactory: ({ redisUrl }: Settings, journal: QuotaJournal, clock: Clock) =>
        new MemoryQuotaStore(clock, redisUrl === null ? journal : undefined),
    },
    {
      provide: QuotaStore,
      inject: [Settings, Metrics, MemoryQuotaStore, QuotaJournal, Clock, HttpAdapterHost],
      useFactory: async (
        { redisUrl, redisCa, redisTimeoutMs }: Settings,
        metrics: Metrics,
        memory: MemoryQuotaStore,
        journal: QuotaJournal,
        clock: Clock,
        { listen$ }: HttpAdapterHost,
      ) => {
        if (redisUrl === null) return memory;
        // Imported on demand, so that the Redis client is not loaded without REDIS_URL.
        const { ResilientQuotaStore } = await import('./redis/resilient-quota-store.js');
        const store = await ResilientQuotaStore.open(
          { location: { url: redisUrl, ca: redisCa }, prefix: REDIS_PREFIX, limitMs: redisTimeoutMs },
          memory,
          metrics,
          clock,
          journal,
        );
        // The command line uses the same counts but admits no requests, so it is not counted when limits are divided.
        listen$.subscribe(() => store.join());
        return store;
      },
    },
    SoleProcessLock,
  ],
  exports: [QuotaStore, QuotaJournal],
})
export class QuotaStoreModule {}

/** Throttler's module with the two windows of the caller's plan and the store. */
@Module({
  imports: [
    QuotaStoreModule,
    ThrottlerModule.forRootAsync({
      imports: [QuotaStoreModule],
      inject: [QuotaStore],
      useFactory: (storage: QuotaStore) => ({
        throttlers: [
          { name: 'minute', ttl: MINUTE_MS, limit: (context) => subjectOf(context).perMinute },
          {
            name: 'day',
            ttl: DAY_MS,
            limit: (context) => subjectOf(context).perDay ?? 0,
            skipIf: (context) => subjectOf(context).perDay === undefined,
          },
        ],
        storage,
      }),
    }),
  ],
  providers: [QuotaService],
  exports: [QuotaService, QuotaStoreModule, ThrottlerModule],
})
export class ThrottlingModule {}

function subjectOf(context: ExecutionContext): QuotaSubject {
  return quotaSubjectOf(context.switchToHttp().getRequest<Request>());
}
