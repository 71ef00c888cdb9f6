import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { ApiKeysService } from './api-keys.service.js';
import { ClientQuotaService } from './client-quota.service.js';
import { Client } from './client.entity.js';
import { ClientsService } from './clients.service.js';

/** Clients, their API keys, and what the guards of the chain need to verify them. */
@Module({
  imports: [ThrottlingModule, TypeOrmModule.forFeature([Client, ApiKey])],
  providers: [ClientsService, ApiKeysService, ClientQuotaService, ApiKeyVerifier],
  exports: [ClientsService, ApiKeysService, ClientQuotaService, ApiKeyVerifier],
})
export class AuthModule {}
