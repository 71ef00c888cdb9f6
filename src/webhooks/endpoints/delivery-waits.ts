import type { EntityManager } from 'typeorm';
import type { WebhookDelivery } from '../webhook-delivery.entity.js';
import type { WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { MAX_COUNTED, type WebhookDeliveryDto, toWebhookDeliveryDto } from './dto/webhook-delivery.dto.js';
import { nextAttemptOf } from './dto/webhook-endpoint.dto.js';

/**
 * Counts the messages that wait before a delivery. Counting stops at MAX_COUNTED, because an endpoint that is down can have any number of
 * them.
 */
const BEFORE = `
  SELECT COUNT(*) AS "before" FROM (
    SELECT 1 FROM webhook_deliveries
    WHERE endpoint_id = :endpointId AND state = 'waiting' AND id < CAST(:id AS BIGINT) LIMIT ${MAX_COUNTED}
  ) AS counted`;

/** Converts a delivery for display, with the number of messages before it and the time of the next attempt. */
export async function withWait(
  endpoint: WebhookEndpoint,
  delivery: WebhookDelivery,
  manager: EntityManager,
): Promise<WebhookDeliveryDto> {
  return shown(endpoint, delivery, await waitingBefore(delivery, manager));
}

/** Consecutive deliveries of the log, latest first: only the messages before the oldest waiting delivery are counted in the database. */
export async function withWaits(
  endpoint: WebhookEndpoint,
  deliveries: readonly WebhookDelivery[],
  manager: EntityManager,
): Promise<WebhookDeliveryDto[]> {
  const oldest = deliveries.findLast(({ state }) => state === 'waiting');
  let before = oldest ? await waitingBefore(oldest, manager) : 0;
  const dtos: WebhookDeliveryDto[] = [];
  for (const delivery of deliveries.toReversed()) {
    dtos.push(shown(endpoint, delivery, before));
    if (delivery.state === 'waiting' && before < MAX_COUNTED) before += 1;
  }
  return dtos.toReversed();
}

function shown(endpoint: WebhookEndpoint, delivery: WebhookDelivery, before: number): WebhookDeliveryDto {
  const isWaiting = delivery.state === 'waiting';
  return toWebhookDeliveryDto(delivery, {
    waitingBefore: isWaiting ? before : null,
    nextAttemptAt: isWaiting ? nextAttemptOf(endpoint) : null,
  });
}

async function waitingBefore(
  { endpointId, id, state }: WebhookDelivery,
  manager: EntityManager,
): Promise<number> {
  if (state !== 'waiting') return 0;
  const parameters = { endpointId, id: String(id) };
  const statement = manager.connection.driver.escapeQueryWithParameters(BEFORE, parameters, {});
  const [row] = await manager.query<{ before: number | string }[]>(...statement);
  return Number(row?.before);
}
