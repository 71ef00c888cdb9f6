import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Enum, Instant, Int64, Uuid } from '../../../http/validation/fields.js';
import { PageQuery } from '../../../http/paging/pager.js';
import { DELIVERY_STATES, type DeliveryState, type WebhookDelivery } from '../../webhook-delivery.entity.js';

const STATE = { values: DELIVERY_STATES, enumName: 'DeliveryState' };

/** One entry of the log of an endpoint. */
@ApiSchema({ name: 'WebhookDelivery', description: 'A message to one endpoint, and its state.' })
export class WebhookDeliveryDto {
  @ApiProperty({ type: 'integer', format: 'int64', example: 7 })
  id!: bigint;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The endpoint' })
  endpointId!: string;

  @ApiProperty({
    type: 'string',
    description: '`webhook-id` of every attempt; a redelivery has it, too',
    example: 'msg_1f0c8d7e5a9b4c3d2e1f0a9b8c7d6e5f',
  })
  messageId!: string;

  @ApiProperty({ type: 'string', description: 'Name of the event', example: 'quota.threshold' })
  event!: string;

  @ApiProperty({
    enum: DELIVERY_STATES,
    enumName: 'DeliveryState',
    description: 'Whether it is waiting, was delivered (2xx), or has failed for good',
  })
  state!: DeliveryState;

  @ApiProperty({ type: 'integer', description: 'Number of attempts', example: 1 })
  attempts!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status of the response to the last attempt; null if there was no response',
    example: 200,
  })
  status!: number | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why the last attempt failed; null if it did not',
  })
  error!: string | null;

  @Instant({ description: 'When it happened' })
  happenedAt!: string;

  @Instant({ description: 'When it was last sent; null if it was not sent yet', nullable: true })
  attemptedAt!: string | null;
}

/** Makes the shown form of a delivery, whose message must be read with it. */
export function toWebhookDeliveryDto(delivery: WebhookDelivery): WebhookDeliveryDto {
  const { id, endpointId, messageId, state, attempts, status, error, attemptedAt, message } = delivery;
  const { event, createdAt: happenedAt } = message;
  return { id, endpointId, messageId, event, state, attempts, status, error, happenedAt, attemptedAt };
}

/** A delivery with its body. */
@ApiSchema({ name: 'WebhookDeliveryWithPayload', description: 'A delivery with its body.' })
export class WebhookDeliveryWithPayloadDto extends WebhookDeliveryDto {
  @ApiProperty({
    type: 'string',
    description: 'The body over which the signature is made: JSON text with `type`, `timestamp` and `data`',
    example: '{"type":"webhook.test","timestamp":"2026-11-20T12:00:00.000Z","data":{}}',
  })
  payload!: string;
}

/** Path parameter of one webhook endpoint. */
export class WebhookEndpointParams {
  @Uuid({ description: 'Id of the endpoint' })
  endpointId!: string;
}

/** Path parameters of one delivery. */
export class WebhookDeliveryParams extends WebhookEndpointParams {
  @Int64({ description: 'Id of the delivery' })
  deliveryId!: bigint;
}

/** Query of the list of webhook endpoints of all clients. */
export class WebhookEndpointsQuery extends PageQuery {
  @Uuid({ description: 'Only endpoints of this client', optional: true })
  client?: string;
}

/** Query of the log of an endpoint. */
export class WebhookDeliveriesQuery extends PageQuery {
  @Enum({ ...STATE, description: 'Only deliveries in this state', optional: true })
  state?: DeliveryState;
}
