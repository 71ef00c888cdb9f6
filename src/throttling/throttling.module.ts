import { Module, type ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { QuotaService } from './quota.service.js';
import { QuotaStore } from './quota-store.js';
import { QuotaStoreModule } from './quota-store.module.js';
import { quotaSubjectOf } from './quota-subject.js';
import { DAY_MS, MINUTE_MS, type QuotaSubject } from './quota.js';

/** Throttler's module with the two windows of the caller's plan, and the store that counts them. */
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
