import { Module } from '@nestjs/common';
import { AccountsModule } from '../auth/clients/accounts.module.js';
import { AuditModule } from '../auth/audit/audit.service.js';
import { AuditController } from './audit.controller.js';
import { ClientsController } from './clients.controller.js';
import { OperatorsConsole } from './console/operators-console.js';
import { KeysController } from './keys.controller.js';
import { ScopesController } from './scopes.controller.js';
import { UsageController } from './usage.controller.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookEventsController } from './webhook-events.controller.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhookEndpointsModule } from '../webhooks/endpoints/webhook-endpoints.module.js';

/** Administration over HTTP, for keys with the scope admin. The command line uses the same services. */
@Module({
  imports: [AccountsModule, AuditModule, WebhookEndpointsModule],
  controllers: [
    ClientsController,
    KeysController,
    ScopesController,
    UsageController,
    AuditController,
    WebhooksController,
    WebhookDeliveriesController,
    WebhookEventsController,
  ],
  providers: [OperatorsConsole],
})
export class AdminModule {}
