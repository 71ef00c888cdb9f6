import { Module } from '@nestjs/common';
import { AccountsModule } from '../auth/clients/accounts.module.js';
import { AuditModule } from '../auth/audit/audit.service.js';
import { DatabaseModule } from '../database/database.module.js';
import { AccountController } from './account.controller.js';
import { KeyLimits } from './key-limits.js';
import { OwnKeysController } from './own-keys.controller.js';
import { OwnKeysService } from './own-keys.service.js';
import { OwnWebhookDeliveriesController } from './own-webhook-deliveries.controller.js';
import { OwnWebhookEventsController } from './own-webhook-events.controller.js';
import { OwnWebhooksController } from './own-webhooks.controller.js';
import { WebhookEndpointsModule } from '../webhooks/endpoints/webhook-endpoints.module.js';

/** Self-service over HTTP: what the holder of a key may see and order for its own client. */
@Module({
  imports: [AccountsModule, AuditModule, DatabaseModule, WebhookEndpointsModule],
  controllers: [
    AccountController,
    OwnKeysController,
    OwnWebhooksController,
    OwnWebhookDeliveriesController,
    OwnWebhookEventsController,
  ],
  providers: [OwnKeysService, KeyLimits],
})
export class AccountModule {}
