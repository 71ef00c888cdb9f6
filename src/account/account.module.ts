import { Module } from '@nestjs/common';
import { ClientsModule } from '../auth/clients/clients.module.js';
import { KEYS_BOUND, NEW_KEYS_BOUND, WEBHOOKS_BOUND } from './account.bounds.js';
import { accountHolderOf } from './account-holder.js';
import { AccountController } from './account.controller.js';
import { ACCOUNT_SCOPE } from './account.scopes.js';
import { keysController } from '../admin/keys/keys.controller.js';
import { webhookDeliveriesController } from '../webhooks/endpoints/webhook-deliveries.controller.js';
import { webhookEventsController } from '../webhooks/endpoints/webhook-events.controller.js';
import { webhooksController } from '../webhooks/endpoints/webhooks.controller.js';
import type { Audience } from '../http/audience.js';

/** Tag of operations on the caller's client. */
const AUDIENCE: Audience = { prefix: 'account', scope: ACCOUNT_SCOPE, holderOf: accountHolderOf };
const WEBHOOKS: Audience = { ...AUDIENCE, uncounted: WEBHOOKS_BOUND };

/** Self-service over HTTP: what a key holder may see and change of its client. */
@Module({
  imports: [ClientsModule],
  controllers: [
    AccountController,
    keysController({ ...AUDIENCE, uncounted: KEYS_BOUND }, NEW_KEYS_BOUND),
    webhooksController(WEBHOOKS),
    webhookDeliveriesController(WEBHOOKS),
    webhookEventsController(WEBHOOKS),
  ],
})
export class AccountModule {}
