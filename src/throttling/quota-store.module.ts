import { Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { Metrics } from '../metrics/metrics.js';
import { DatabaseQuotaJournal } from './memory/database-quota-journal.js';
import { MemoryQuotaStore } from './memory/memory-quota-store.js';
import { OtherProcesses } from './memory/other-processes.js';
import { QuotaJournal } from './memory/quota-journal.js';
import { QuotaWriteBehind } from './memory/quota-write-behind.js';
import { QuotaStore } from './quota-store.js';
import { REDIS_PREFIX } from './redis/redis-keys.js';

/** Provides the QuotaStore that the settings ask for: in this process, or in the Redis of REDIS_URL. */
@Module({
  imports: [DatabaseModule],
  providers: [
    { provide: QuotaJournal, useClass: DatabaseQuotaJournal },
    {
      provide: MemoryQuotaStore,
      inject: [Settings, QuotaJournal],
      // With Redis this one only stands in for it, and what it counts then is not kept.
      useFactory: ({ redisUrl }: Settings, journal: QuotaJournal) =>
        new MemoryQuotaStore(redisUrl === null ? journal : undefined),
    },
    {
      provide: QuotaStore,
      inject: [Settings, Metrics, MemoryQuotaStore],
      useFactory: async (
        { redisUrl, redisTimeoutMs }: Settings,
        metrics: Metrics,
        memory: MemoryQuotaStore,
      ) => {
        if (redisUrl === null) return memory;
        // Read only now: without REDIS_URL no start waits for it.
        const { ResilientQuotaStore } = await import('./redis/resilient-quota-store.js');
        return ResilientQuotaStore.open(
          { url: redisUrl, prefix: REDIS_PREFIX, limitMs: redisTimeoutMs },
          memory,
          metrics,
        );
      },
    },
    QuotaWriteBehind,
    OtherProcesses,
  ],
  exports: [QuotaStore, QuotaJournal],
})
export class QuotaStoreModule {}
