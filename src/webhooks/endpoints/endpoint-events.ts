import { type EntityManager, In } from 'typeorm';
import { Client } from '../../auth/clients/client.entity.js';
import { type WebhookEndpoint, WebhookSubscription } from '../webhook-endpoint.entity.js';

/** The events of an endpoint's first waiting deliveries after an id, and the last of their ids. */
const WAITING_EVENTS = `
  WITH page AS (
    SELECT id, message_id FROM webhook_deliveries
    WHERE endpoint_id = :endpointId AND state = 'waiting' AND id > CAST(:after AS BIGINT) ORDER BY id LIMIT 10000
  )
  SELECT DISTINCT event AS "event", CAST((SELECT MAX(id) FROM page) AS TEXT) AS "last"
  FROM page JOIN webhook_messages ON webhook_messages.id = message_id`;

/** An endpoint, the name of its client, and the names of its events in alphabetical order. */
export type SubscribedEndpoint = WebhookEndpoint & {
  readonly clientName: string;
  readonly events: readonly string[];
};

/** Subscribes an endpoint to exactly these events. */
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

/**
 * The events of an endpoint's waiting messages. Millions may wait, so they are read in batches, because each statement has a time limit.
 */
export async function waitingEventsOf(endpointId: string, manager: EntityManager): Promise<string[]> {
  const { driver } = manager.connection;
  const events = new Set<string>();
  for (let after: string | undefined = '0'; after !== undefined;) {
    const statement = driver.escapeQueryWithParameters(WAITING_EVENTS, { endpointId, after }, {});
    const rows: { event: string; last: string }[] = await manager.query(...statement);
    for (const { event } of rows) events.add(event);
    after = rows[0]?.last;
  }
  return [...events];
}

/** These endpoints with their events and the names of their clients. */
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
  const clients = await manager.find(Client, {
    where: { id: In([...new Set(endpoints.map(({ clientId }) => clientId))]) },
    select: { id: true, name: true },
  });
  const names = new Map(clients.map(({ id, name }) => [id, name]));
  return endpoints.map((endpoint) =>
    Object.assign(endpoint, {
      clientName: names.get(endpoint.clientId) ?? '',
      events: events.get(endpoint.id) ?? [],
    }),
  );
}
