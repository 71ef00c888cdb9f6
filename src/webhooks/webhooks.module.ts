import { Global, Module } from '@nestjs/common';
import { AuditModule } from '../auth/audit/audit.service.js';
import { AccountEvents } from './sources/account-events.js';
import { ExpiringKeys } from './sources/expiring-keys.js';
import { WebhookAddresses } from './webhook-addresses.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';
import { WebhookMessages } from './webhook-messages.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookSettlements } from './webhook-settlements.js';
import { WebhookSubscribers } from './webhook-subscribers.js';
import { WebhookWake } from './webhook-wake.js';

/** Tells endpoints of clients what happened: Standard Webhooks 1.0. */
@Global()
@Module({
  imports: [AuditModule],
  providers: [
    AccountEvents,
    ExpiringKeys,
    WebhookAddresses,
    WebhookDeliveries,
    WebhookDispatcher,
    WebhookMessages,
    WebhookMetrics,
    WebhookSender,
    WebhookSettlements,
    WebhookSubscribers,
    WebhookWake,
  ],
  exports: [WebhookAddresses, WebhookDispatcher, WebhookMessages],
})
export class WebhooksModule {}
