import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AuditModule } from '../audit/audit.service.js';
import { DatabaseModule } from '../database/database.module.js';
import { AccountController } from './account.controller.js';
import { KeyLimits } from './key-limits.js';
import { OwnKeysController } from './own-keys.controller.js';
import { OwnKeysService } from './own-keys.service.js';

/** Self-service over HTTP: what the holder of a key may see and order for its own client. */
@Module({
  imports: [AccountsModule, AuditModule, DatabaseModule],
  controllers: [AccountController, OwnKeysController],
  providers: [OwnKeysService, KeyLimits],
})
export class AccountModule {}
