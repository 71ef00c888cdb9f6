import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module.js';
import { AuditModule } from '../auth/audit/audit.service.js';
import { AdministrationPortMiddleware } from './administration-port.middleware.js';
import { OPERATORS } from './admin.scopes.js';
import { CommandChecks } from './commands/command-checks.js';
import { AuditListing } from './audit/audit-listing.js';
import { AuditController } from './audit/audit.controller.js';
import { ClientData } from './client-data.js';
import { ClientsController } from './clients.controller.js';
import { KeyPages } from './console/key-pages.js';
import { keysController } from './keys/keys.controller.js';
import { ScopesAndBansController } from './keys/scopes-and-bans.controller.js';
import { OverviewController } from './overview/overview.controller.js';
import { OverviewService } from './overview/overview.service.js';
import { PlansController } from './plans.controller.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { UsageController } from './usage.controller.js';
import { webhookDeliveriesController } from '../webhooks/endpoints/webhook-deliveries.controller.js';
import { webhooksController } from '../webhooks/endpoints/webhooks.controller.js';

/** Administration over HTTP, for keys with the scope admin, or admin:read for reading only. */
@Module({
  imports: [DiscoveryModule, AuthModule, AuditModule, ThrottlingModule],
  controllers: [
    OverviewController,
    ClientsController,
    PlansController,
    keysController(OPERATORS),
    ScopesAndBansController,
    UsageController,
    AuditController,
    webhooksController(OPERATORS),
    webhookDeliveriesController(OPERATORS),
  ],
  providers: [
    AdministrationPortMiddleware,
    AuditListing,
    ClientData,
    CommandChecks,
    KeyPages,
    OverviewService,
  ],
})
export class AdminModule {}
