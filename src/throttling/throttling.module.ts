import { Module } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import type { Request } from 'express';
import { Clock } from '../clock.js';
import { MemoryQuotaStore } from './memory-quota-store.js';
import { quotaSubjectOf } from './quota-subject.js';
import { DAY_MS, MINUTE_MS, type QuotaSubject } from './quota.js';
import { QuotaService } from './quota.service.js';

/** Throttler's module with the two windows of the caller's plan, and the store that counts them. */
@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      inject: [Clock],
      useFactory: (clock: Clock) => ({
        throttlers: [
          { name: 'minute', ttl: MINUTE_MS, limit: (context) => subjectOf(context).perMinute },
          {
            name: 'day',
            ttl: DAY_MS,
            limit: (context) => subjectOf(context).perDay ?? 0,
            skipIf: (context) => subjectOf(context).perDay === undefined,
          },
        ],
        storage: new MemoryQuotaStore(clock),
      }),
    }),
  ],
  providers: [QuotaService],
  exports: [QuotaService, ThrottlerModule],
})
export class ThrottlingModule {}

function subjectOf(context: ExecutionContext): QuotaSubject {
  return quotaSubjectOf(context.switchToHttp().getRequest<Request>());
}
