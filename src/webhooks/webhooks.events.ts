import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { DisabledBecause } from './webhook-endpoint.entity.js';
import { defineWebhookEvent } from './webhook-events.js';

/** An endpoint that no longer receives messages. */
@ApiSchema({ name: 'WebhookEndpointDisabled' })
export class WebhookEndpointDisabled {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ type: 'string' })
  readonly url!: string;

  @ApiProperty({ type: 'string', nullable: true })
  readonly label!: string | null;

  @ApiProperty({ type: 'string', enum: ['failing', 'gone'] })
  readonly because!: DisabledBecause;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly disabledAt!: string;
}

/** A test of an endpoint. */
@ApiSchema({ name: 'WebhookTest' })
export class WebhookTest {
  @ApiProperty({ type: 'string', format: 'uuid' })
  readonly endpointId!: string;
}

/** An endpoint of the client was disabled because it failed. Sent to the client's other endpoints. */
export const WEBHOOK_ENDPOINT_DISABLED = defineWebhookEvent('webhook_endpoint.disabled', {
  data: WebhookEndpointDisabled,
  description:
    'Another of your endpoints was disabled because it failed for three days or responded with 410. `data`: `id`, `url`, ' +
    '`label`, `because`, `disabledAt`.',
});

/** Sent only on request, and only to the tested endpoint. */
export const WEBHOOK_TEST = defineWebhookEvent('webhook.test', {
  data: WebhookTest,
  description:
    'A test was requested: `POST …/webhooks/{endpointId}/test`. It is sent only to that endpoint, which needs no subscription. `data`: `endpointId`.',
});
