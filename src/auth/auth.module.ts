import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { ApiKeysService } from './api-keys.service.js';
import { Client } from './client.entity.js';
import { AuditedChanges } from './audited-changes.js';
import { ClientsService } from './clients.service.js';
import { DeprecatedCallsService } from './deprecated-calls.service.js';
import { KeyLookUp } from './key-look-up.js';
import { KeyMemory } from './key-memory.js';
import { KeyUseService } from './key-use.service.js';
import { UsageService } from './usage.service.js';

/** Clients, their API keys, and what the guards of the chain need to verify them. */
@Module({
  imports: [AuditModule, DatabaseModule, ThrottlingModule, TypeOrmModule.forFeature([Client, ApiKey])],
  providers: [
    KeyLookUp,
    KeyMemory,
    AuditedChanges,
    DeprecatedCallsService,
    ClientsService,
    ApiKeysService,
    UsageService,
    ApiKeyVerifier,
    KeyUseService,
  ],
  exports: [
    ClientsService,
    ApiKeysService,
    DeprecatedCallsService,
    UsageService,
    ApiKeyVerifier,
    KeyUseService,
  ],
})
export class AuthModule {}
