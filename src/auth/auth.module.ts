import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKey } from '../accounts/api-key.entity.js';
import { ApiKeysService } from '../accounts/api-keys.service.js';
import { AuditedChanges } from '../accounts/audited-changes.js';
import { Client } from '../accounts/client.entity.js';
import { ClientsService } from '../accounts/clients.service.js';
import { DeprecatedCallsService } from '../accounts/deprecated-calls.service.js';
import { KeyUseService } from '../accounts/key-use.service.js';
import { UsageService } from '../accounts/usage.service.js';
import { AuditModule } from '../audit/audit.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { KeyMemory } from './key-cache.js';
import { KeyLookUp } from './key-look-up.js';

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
