import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { AuditModule } from '../audit/audit.service.js';
import { AuditController } from './audit.controller.js';
import { ClientsController } from './clients.controller.js';
import { KeysController } from './keys.controller.js';
import { ScopesController } from './scopes.controller.js';
import { UsageController } from './usage.controller.js';

/** Administration over HTTP, for keys with the scope admin. The command line uses the same services. */
@Module({
  imports: [AccountsModule, AuditModule],
  controllers: [ClientsController, KeysController, ScopesController, UsageController, AuditController],
})
export class AdminModule {}
