import { Module } from '@nestjs/common';
import { keysController } from '../admin/keys/keys.controller.js';
import { AuthModule } from '../auth/auth.module.js';
import { webhookDeliveriesController } from '../webhooks/endpoints/webhook-deliveries.controller.js';
import { webhooksController } from '../webhooks/endpoints/webhooks.controller.js';
import {
  HOLDERS_OF_DELIVERIES,
  HOLDERS_OF_KEYS,
  HOLDERS_OF_WEBHOOKS,
  NEW_KEYS_LIMIT,
} from './account.audience.js';
import { AccountController } from './account.controller.js';

/** Self-service over HTTP, for key holders to manage their own client. */
@Module({
  imports: [AuthModule],
  controllers: [
    AccountController,
    keysController(HOLDERS_OF_KEYS, NEW_KEYS_LIMIT),
    webhooksController(HOLDERS_OF_WEBHOOKS),
    webhookDeliveriesController(HOLDERS_OF_DELIVERIES),
  ],
})
export class AccountModule {}
