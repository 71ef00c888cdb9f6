import { Global, Module } from '@nestjs/common';
import { AuditModule } from '../auth/audit/audit.service.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { DatabaseModule } from '../database/database.module.js';
import { DueDeliveries } from './due-deliveries.js';
import { EndpointChanges } from './endpoints/endpoint-changes.js';
import { WebhookDeliveriesService } from './endpoints/webhook-deliveries.service.js';
import { WebhookEndpointsService } from './endpoints/webhook-endpoints.service.js';
import { WebhookSecretsService } from './endpoints/webhook-secrets.service.js';
import { AccountEvents } from './sources/account-events.js';
import { ExpiringKeys } from './sources/expiring-keys.js';
import { HostNames } from './host-names.js';
import { WebhookAddresses } from './webhook-addresses.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookDispatcher } from './webhook-dispatcher.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookFanOuts } from './webhook-fan-outs.js';
import { WebhookMessages } from './webhook-messages.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookSettlements } from './webhook-settlements.js';

/** Sends webhooks (Standard Webhooks 1.0), and provides the services for their administration and self-service. */
@Global()
@Module({
  imports: [
    AuthModule,
    AuditModule,
    DatabaseModule,
    TypeOrmModule.forFeature([WebhookEndpoint, WebhookDelivery]),
  ],
  providers: [
    AccountEvents,
    DueDeliveries,
    EndpointChanges,
    ExpiringKeys,
    HostNames,
    WebhookAddresses,
    WebhookDeliveriesService,
    WebhookDispatcher,
    WebhookEndpointsService,
    WebhookFanOuts,
    WebhookMessages,
    WebhookMetrics,
    WebhookSecretsService,
    WebhookSender,
    WebhookSettlements,
  ],
  exports: [
    WebhookDeliveriesService,
    WebhookEndpointsService,
    WebhookFanOuts,
    WebhookMessages,
    WebhookSecretsService,
  ],
})
export class WebhooksModule {}
