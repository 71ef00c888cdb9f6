import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountsModule } from '../../auth/clients/accounts.module.js';
import { AuditModule } from '../../auth/audit/audit.service.js';
import { DatabaseModule } from '../../database/database.module.js';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { EndpointTrail } from './endpoint-trail.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** The endpoints of webhooks and their log: the services behind administration and self-service. */
@Module({
  imports: [
    AccountsModule,
    AuditModule,
    DatabaseModule,
    TypeOrmModule.forFeature([WebhookEndpoint, WebhookDelivery]),
  ],
  providers: [EndpointTrail, WebhookDeliveriesService, WebhookEndpointsService],
  exports: [WebhookDeliveriesService, WebhookEndpointsService],
})
export class WebhookEndpointsModule {}
