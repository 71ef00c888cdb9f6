import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from './audit/audit.service.js';
import { DatabaseModule } from '../database/database.module.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { ApiKey } from './clients/api-key.entity.js';
import { ApiKeysService } from './clients/api-keys.service.js';
import { AuditedChanges } from './clients/audited-changes.js';
import { ClientQuotas } from './clients/client-quotas.js';
import { Client } from './clients/client.entity.js';
import { ClientAlerts } from './usage/client-alerts.service.js';
import { ClientRequests } from './usage/client-requests.service.js';
import { ClientsService } from './clients/clients.service.js';
import { KeyIssuingService } from './clients/key-issuing.service.js';
import { KeyLimits } from './clients/key-limits.js';
import { RequestHistory } from './usage/request-history.js';
import { UsageService } from './usage/usage.service.js';
import { KeyCache } from './clients/key-cache.js';
import { OtherCredentials } from './other-credentials.js';
import { RateLimitHeaders } from './rate-limit-headers.js';

const SERVICES = [
  ApiKeyVerifier,
  ApiKeysService,
  AuditedChanges,
  ClientAlerts,
  ClientQuotas,
  ClientRequests,
  ClientsService,
  KeyCache,
  KeyIssuingService,
  KeyLimits,
  OtherCredentials,
  RequestHistory,
  RateLimitHeaders,
  UsageService,
];

/** Clients, their API keys and their usage, for guards, the HTTP administration and the command line. */
@Module({
  imports: [AuditModule, DatabaseModule, ThrottlingModule, TypeOrmModule.forFeature([Client, ApiKey])],
  providers: SERVICES,
  exports: SERVICES,
})
export class AuthModule {}
