import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.service.js';
import { DatabaseModule } from '../../database/database.module.js';
import { ThrottlingModule } from '../../throttling/throttling.module.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeysService } from './api-keys.service.js';
import { AuditedChanges } from './audited-changes.js';
import { ClientQuotas } from './client-quotas.js';
import { Client } from './client.entity.js';
import { ClientRequests } from './client-requests.service.js';
import { ClientsService } from './clients.service.js';
import { KeyIssuingService } from './key-issuing.service.js';
import { KeyLimits } from './key-limits.js';
import { RequestHistory } from './request-history.js';
import { UsageService } from './usage.service.js';

const SERVICES = [
  ApiKeysService,
  AuditedChanges,
  ClientQuotas,
  ClientRequests,
  ClientsService,
  KeyIssuingService,
  KeyLimits,
  RequestHistory,
  UsageService,
];

/** Clients, their API keys and their usage: the services behind the administration over HTTP and the command line. */
@Module({
  imports: [AuditModule, DatabaseModule, ThrottlingModule, TypeOrmModule.forFeature([Client, ApiKey])],
  providers: SERVICES,
  exports: SERVICES,
})
export class ClientsModule {}
