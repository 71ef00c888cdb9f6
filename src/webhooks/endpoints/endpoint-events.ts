import { type EntityManager, In } from 'typeorm';
import { WebhookDelivery } from '../webhook-delivery.entity.js';
import { type WebhookEndpoint, WebhookSubscription } from '../webhook-endpoint.entity.js';

/** An endpoint, and the names of the events that it subscribes to, in alphabetical order. */
export type SubscribedEndpoint = WebhookEndpoint & { readonly events: readonly string[] };

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

/** These endpoints with their events. */
export async function withEvents(
  endpoints: readonly WebhookEndpoint[],
  manager: EntityManager,
): Promise<SubscribedEndpoint[]> {
  const rows = await manager.find(WebhookSubscription, {
    where: { endpointId: In(endpoints.map(({ id }) => id)) },
    order: { event: 'ASC' },
  });
  const events = new Map(endpoints.map(({ id }): [string, string[]] => [id, []]));
  for (const { endpointId, event } of rows) events.get(endpointId)?.push(event);
  return endpoints.map((endpoint) => Object.assign(endpoint, { events: events.get(endpoint.id) ?? [] }));
}
