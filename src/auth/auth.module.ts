import { Module } from '@nestjs/common';
import { ClientsModule } from './clients/clients.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ApiKeyVerifier } from './api-key.verifier.js';
import { KeyCache } from './key-cache.js';
import { OtherCredentials } from './other-credentials.js';
import { ShownQuota } from './shown-quota.js';

/** Verifies the credential of a request, for the guards of the chain. */
@Module({
  imports: [ClientsModule, DatabaseModule, ThrottlingModule],
  providers: [ApiKeyVerifier, KeyCache, OtherCredentials, ShownQuota],
  exports: [ApiKeyVerifier, KeyCache, OtherCredentials, ShownQuota],
})
export class AuthModule {}
