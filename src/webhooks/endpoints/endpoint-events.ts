import { type EntityManager, In } from 'typeorm';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import { type WebhookEndpoint, WebhookSubscription } from '../webhook-endpoint.entity.js';

/** Subscribes an endpoint to these events and to no others. */
export async function subscribe(
  endpointId: string,
  events: readonly string[],
  manager: EntityManager,
): Promise<void> {
  await manager.delete(WebhookSubscription, { endpointId });
  await manager.insert(
    WebhookSubscription,
    events.map((event) => ({ endpointId, event })),
  );
}

/** Of which events messages wait for an endpoint. */
export async function waitingEventsOf(endpointId: string, manager: EntityManager): Promise<string[]> {
  const rows = await manager
    .createQueryBuilder(WebhookDelivery, 'delivery')
    .innerJoin('delivery.message', 'message')
    .select('DISTINCT message.event', 'event')
    .where(`delivery.endpointId = :endpointId AND delivery.state = 'waiting'`, { endpointId })
    .getRawMany<{ event: string }>();
  return rows.map(({ event }) => event);
}

/** The names of the events that each of these endpoints subscribes to, in alphabetical order, by the id of the endpoint. */
export async function eventsOf(
  endpoints: readonly WebhookEndpoint[],
  manager: EntityManager,
): Promise<Map<string, string[]>> {
  const rows = await manager.find(WebhookSubscription, {
    where: { endpointId: In(endpoints.map(({ id }) => id)) },
    order: { endpointId: 'ASC', event: 'ASC' },
  });
  const events = new Map<string, string[]>();
  for (const { endpointId, event } of rows)
    events.set(endpointId, [...(events.get(endpointId) ?? []), event]);
  return events;
}
