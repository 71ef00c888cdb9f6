import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Enum, Instant, Int64, Uuid } from '../../../http/validation/fields.js';
import { PageQuery } from '../../../http/paging/pager.js';
import {
  DELIVERY_STATES,
  type DeliveryState,
  MAX_STORED_ATTEMPTS,
  type StoredAttempt,
  type WebhookDelivery,
} from '../../webhook-delivery.entity.js';
import { ENDPOINT_STATES } from '../../webhook-endpoint.entity.js';

/** Maximum number of messages that are counted before a delivery. */
export const MAX_COUNTED = 10_000;

const STATE = { values: DELIVERY_STATES, enumName: 'DeliveryState' };

/** An entry in the log of an endpoint. */
@ApiSchema({ name: 'WebhookDelivery', description: 'A message to an endpoint, and its state.' })
export class WebhookDeliveryDto {
  @ApiProperty({ type: 'integer', format: 'int64', example: 7 })
  id!: bigint;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The endpoint' })
  endpointId!: string;

  @ApiProperty({
    type: 'string',
    description: '`webhook-id` of every attempt, including redeliveries',
    example: 'msg_1f0c8d7e5a9b4c3d2e1f0a9b8c7d6e5f',
  })
  messageId!: string;

  @ApiProperty({ type: 'string', description: 'Name of the event', example: 'quota.threshold' })
  event!: string;

  @ApiProperty({
    enum: DELIVERY_STATES,
    enumName: 'DeliveryState',
    description: 'Whether it is waiting, was delivered (2xx), or has failed permanently',
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

  @Instant({ description: 'When the event happened' })
  happenedAt!: string;

  @Instant({ description: 'When it was last sent; null if it has not been sent yet', nullable: true })
  attemptedAt!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: `Messages that are sent before it, counted up to ${MAX_COUNTED}; null if it is not waiting`,
    example: null,
  })
  waitingBefore!: number | null;

  @Instant({
    description:
      'Earliest time of the next attempt, if the endpoint is failing. Null if the delivery is not waiting, if nothing delays it, or while ' +
      'the endpoint is disabled',
    nullable: true,
  })
  nextAttemptAt!: string | null;
}

/** The number of messages before a waiting delivery, and the time of the next attempt. */
export type Wait = Pick<WebhookDeliveryDto, 'waitingBefore' | 'nextAttemptAt'>;

/** Converts a delivery, which must have been read with its message, for display. */
export function toWebhookDeliveryDto(delivery: WebhookDelivery, wait: Wait): WebhookDeliveryDto {
  const { id, endpointId, messageId, state, attempts, status, error, attemptedAt, message } = delivery;
  const { event, createdAt: happenedAt } = message;
  const outcome = { state, attempts, status, error };
  return { id, endpointId, messageId, event, ...outcome, happenedAt, attemptedAt, ...wait };
}

/** An attempt to send a message. */
@ApiSchema({ name: 'WebhookAttempt', description: 'An attempt to send a message.' })
export class WebhookAttemptDto {
  @Instant({ description: 'When it ended' })
  at!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status of the response; null if there was no response',
    example: 503,
  })
  status!: number | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Why it failed; null if it did not',
    example: 'It responded with 503.',
  })
  error!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds until the status of the response, or until it failed',
    example: 120,
  })
  durationMs!: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'The first 500 bytes of the body of the response, with U+FFFD for control characters; null if there was no response. Under ' +
      '`/account` also null for a host that is not public',
    example: 'upstream timed out',
  })
  response!: string | null;
}

/** Converts an attempt for display. Only operators see responses of hosts that are not public. */
export function toWebhookAttemptDto(attempt: StoredAttempt, isForOperator: boolean): WebhookAttemptDto {
  const { at, status, error, durationMs, response, isPublic } = attempt;
  return { at, status, error, durationMs, response: isPublic || isForOperator ? response : null };
}

/** A delivery with its body and its attempts. */
@ApiSchema({
  name: 'WebhookDeliveryWithPayload',
  description: 'A delivery with its body and its attempts.',
})
export class WebhookDeliveryWithPayloadDto extends WebhookDeliveryDto {
  @ApiProperty({
    type: 'string',
    description: 'The signed body: JSON text with `type`, `timestamp` and `data`',
    example: '{"type":"webhook.test","timestamp":"2026-11-20T12:00:00.000Z","data":{}}',
  })
  payload!: string;

  @ApiProperty({
    type: () => [WebhookAttemptDto],
    description: `Its last attempts, at most ${MAX_STORED_ATTEMPTS}, oldest first`,
  })
  attemptLog!: WebhookAttemptDto[];
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

  @Int64({ description: 'Only the endpoint of this delivery', optional: true })
  delivery?: bigint;

  @Enum({
    enumName: 'WebhookState',
    values: ENDPOINT_STATES,
    description:
      'Only endpoints in this state: `failing`, including endpoints that were disabled because they failed, or `disabled` for any reason',
    optional: true,
  })
  state?: (typeof ENDPOINT_STATES)[number];
}

/** Query of the log of an endpoint. */
export class WebhookDeliveriesQuery extends PageQuery {
  @Enum({ ...STATE, description: 'Only deliveries in this state', optional: true })
  state?: DeliveryState;
}
