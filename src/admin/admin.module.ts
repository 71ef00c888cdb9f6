import { Module } from '@nestjs/common';
import { ClientsModule } from '../auth/clients/clients.module.js';
import { AuditModule } from '../auth/audit/audit.service.js';
import { ADMIN_SCOPE } from './admin.scopes.js';
import { AuditController } from './audit.controller.js';
import { ClientsController } from './clients.controller.js';
import { OperatorsConsole } from './console/operators-console.js';
import { KeyBansController } from './key-bans.controller.js';
import { KeyOrders } from './keys/key-orders.js';
import { keysController } from './keys/keys.controller.js';
import { ScopesController } from './scopes.controller.js';
import { UsageController } from './usage.controller.js';
import { webhookDeliveriesController } from '../webhooks/endpoints/webhook-deliveries.controller.js';
import { webhookEventsController } from '../webhooks/endpoints/webhook-events.controller.js';
import { webhooksController } from '../webhooks/endpoints/webhooks.controller.js';
import type { Audience } from '../http/audience.js';

/** What belongs to all clients. */
const AUDIENCE: Audience = { prefix: 'admin', scope: ADMIN_SCOPE };

/** Administration over HTTP, for keys with the scope admin. The command line uses the same services. */
@Module({
  imports: [ClientsModule, AuditModule],
  controllers: [
    ClientsController,
    keysController(AUDIENCE),
    KeyBansController,
    ScopesController,
    UsageController,
    AuditController,
    webhooksController(AUDIENCE),
    webhookDeliveriesController(AUDIENCE),
    webhookEventsController(AUDIENCE),
  ],
  providers: [KeyOrders, OperatorsConsole],
})
export class AdminModule {}
