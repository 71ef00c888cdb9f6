import { Webhook } from 'standardwebhooks';
import { DataSource, type EntityManager } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BackgroundLoops } from '../../src/events/jobs/background-loops.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { Pet } from '../support/pets/pet.entity.js';
import type { PetDto } from '../support/pets/pets.dto.js';
import { WEBHOOK_PET_CREATED } from '../support/pets/pets.events.js';
import { PetsService } from '../support/pets/pets.service.js';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service.js';
import { WebhookSecretsService } from '../../src/webhooks/endpoints/webhook-secrets.service.js';
import { FIRST, WAITING_ENDPOINTS } from '../../src/webhooks/due-deliveries.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WEBHOOK_QUOTA_THRESHOLD } from '../../src/webhooks/sources/account-webhook.events.js';
import { WebhookEndpoint, WebhookSubscription } from '../../src/webhooks/webhook-endpoint.entity.js';
import { WebhookFanOuts } from '../../src/webhooks/webhook-fan-outs.js';
import { WebhookMessage } from '../../src/webhooks/webhook-message.entity.js';
import { BACKLOG } from '../../src/webhooks/webhook-metrics.js';
import { ON_POSTGRES, planOf, refuseWrites } from '../support/databases.js';
import { type WebhookReceiver } from '../support/webhook-receiver.js';
import { respondWith, open, opened, receive } from '../support/webhook-service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A row for each session that waits for a lock. */
const LOCKED = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
/** The sessions that wait for a lock now: within a transaction PostgreSQL shows what it was when it was first asked. */
async function locked(manager: EntityManager): Promise<unknown> {
  await manager.query('SELECT pg_stat_clear_snapshot()');
  return manager.query(LOCKED);
}

const NOWHERE = 'http://127.0.0.1:9/';

type Opened = Awaited<ReturnType<typeof opened>>;
let all: Opened;
/** One that writes messages, and sends none. */
let silent: Opened;
beforeAll(async () => {
  const options = { database: 'file', environment: { WEBHOOK_RETENTION_DAYS: '7' } } as const;
  [all, silent] = [await opened(options), await opened(options)];
  await silent.service.app.get(BackgroundLoops).stop();
});
afterAll(() => Promise.all([all.service.close(), silent.service.close()]));
beforeEach(() => Promise.all([all.clear(), silent.clear()]));

/** A pet as it is sent; what else it may have does not matter here. */
const sent = (name: string) => ({ id: 1n, ...newPet(name) }) as PetDto;
const reached = { window: 'day', percent: 80, limit: 10, used: 8, resetsAt: '2026-11-21T00:00:00.000Z' };
const newPet = (name: string) => ({ name, categoryId: 1n, status: 'available' as const });
/** Adds animals in one transaction. */
const addAll = ({ service: { app } }: Opened, count: number, fails = false) =>
  app.get(DataSource).transaction(async () => {
    for (let n = 0; n < count; n += 1) await app.get(PetsService).create(newPet(`N${n}`));
    if (fails) throw new Error('no');
  });
const endpointsOf = ({ service }: Opened) => service.app.get(WebhookEndpointsService);
const secretsOf = ({ service }: Opened) => service.app.get(WebhookSecretsService);
const statesOf = async ({ deliveries }: Opened) =>
  (await deliveries()).map(({ state, attempts, status }) => [state, attempts, status]);

describe('a message', () => {
  it('is written in the transaction of its animal, exactly: by key, in bulk, and not when that is rolled back', async () => {
    const { service, post, deliver, endpointAt, manager } = all;
    const receiver = await receive();
    await endpointAt(receiver.url);
    await post('Once', { 'Idempotency-Key': 'a' });
    expect((await post('Once', { 'Idempotency-Key': 'a' })).headers.get('idempotent-replayed')).toBe('true');
    await expect(addAll(all, 2, true)).rejects.toThrow('no');
    await addAll(all, 2);
    await service.request('POST', '/v1/pets', { json: '{"name":"Big","categoryId":9223372036854775807}' });
    await deliver();
    expect(receiver.names).toEqual(['Once', 'N0', 'N1', 'Big']);
    expect(receiver.received[3]?.text).toContain('"categoryId":9223372036854775807');
    expect(await manager.count(Pet)).toBe(4);
  });

  it('has the signature that a library verifies, also after a rotation', async () => {
    const { post, deliver, endpointAt, clock } = all;
    const receiver = await receive();
    const { id, secret } = await endpointAt(receiver.url);
    const { secret: next } = await secretsOf(all).rotate(id, HOUR, SERVICE_ITSELF);
    await post('Signed');
    await deliver();
    const [{ text, headers } = expect.unreachable()] = receiver.received;
    // A library refuses what is older than five minutes.
    vi.useFakeTimers({ toFake: ['Date'], now: clock.now() });
    onTestFinished(() => void vi.useRealTimers());
    for (const by of [secret, next])
      expect(new Webhook(by).verify(text, headers as Record<string, string>)).toMatchObject({
        data: { name: 'Signed' },
      });
  });

  it('is not sent by order to an endpoint that is deleted at the same time: that is not found', async () => {
    const { service, endpointAt, manager } = all;
    const { id } = await endpointAt(NOWHERE);
    const { key } = await service.issueKey({ scopes: ['admin'] });
    let pending: ReturnType<typeof service.request> | undefined;
    await manager.transaction(async (inside) => {
      await inside.delete(WebhookEndpoint, id);
      pending = service.request('POST', `/admin/webhooks/${id}/test`, { key });
      if (ON_POSTGRES) await expect.poll(() => locked(inside)).toHaveLength(1);
    });
    expect((await pending)?.body).toMatchObject({ code: 'webhook_endpoint_not_found' });
  });

  it('is not written while nobody subscribes, and is for those who do before the request starts', async () => {
    const { post, deliver, endpointAt, manager } = all;
    const receiver = await receive();
    await post('Nobody');
    await endpointAt(receiver.url, {}, ['webhook_endpoint.disabled']);
    await post('Other');
    const { id } = await endpointAt(receiver.url);
    await post('Told');
    await endpointsOf(all).update(id, { enabled: false }, SERVICE_ITSELF);
    await post('Disabled');
    await endpointsOf(all).update(id, { enabled: true }, SERVICE_ITSELF);
    await post('Again');
    await deliver();
    expect(receiver.names).toEqual(['Told', 'Again']);
    expect(await manager.count(WebhookMessage)).toBe(2);
  });

  it.each([
    ['an hour later', HOUR],
    ['an hour earlier, for the clock was set back', -HOUR],
  ])(
    'is for the endpoints that were there and enabled when it was written: those were changed %s',
    async (_, passed) => {
      const { service, post, deliver, endpointAt, clock } = all;
      const order = { clientId: service.clientId, events: ['pets.created'] };
      const created = async (receiver: WebhookReceiver) =>
        (await endpointsOf(all).create({ ...order, url: receiver.url }, SERVICE_ITSELF)).id;
      const [always, changed, late] = [await receive(), await receive(), await receive()];
      await endpointAt(always.url);
      const id = await created(changed);
      clock.advance(passed);
      await post('First');
      await endpointsOf(all).update(id, { enabled: false }, SERVICE_ITSELF);
      clock.advance(passed);
      await post('Disabled');
      await endpointsOf(all).update(id, { enabled: true }, SERVICE_ITSELF);
      await post('Enabled');
      await created(late);
      await post('Last');
      await deliver();
      expect([always.names, changed.names, late.names]).toEqual([
        ['First', 'Disabled', 'Enabled', 'Last'],
        ['First', 'Enabled', 'Last'],
        ['Last'],
      ]);
    },
  );

  it.each([
    [
      'of its endpoint',
      ({ service }: Opened) => Promise.resolve(service.clientId),
      (_: string, id: string) => endpointsOf(silent).delete(id, SERVICE_ITSELF),
    ],
    [
      'of its client',
      async ({ service: { app } }: Opened) =>
        (await app.get(ClientsService).create({ name: 'Other', plan: 'free' }, SERVICE_ITSELF)).id,
      (clientId: string) => silent.service.app.get(ClientsService).delete(clientId, {}, SERVICE_ITSELF),
    ],
  ])(
    'is not in the way of a deletion %s, nor that in the way of those of others',
    async (_, owner, remove) => {
      const { service, manager, post, endpointAt } = silent;
      const clientId = await owner(silent);
      const { id } = await endpointAt(NOWHERE, { clientId });
      await endpointAt(NOWHERE);
      await post('Rex');
      const fanOuts = await service.app.get(DataSource).transaction(async () => {
        await remove(clientId, id);
        const run = service.app.get(WebhookFanOuts).run();
        // Behind the fan-out, the counts of a second may wait as well.
        if (ON_POSTGRES) await expect.poll(() => locked(manager)).not.toHaveLength(0);
        return { run };
      });
      await fanOuts.run;
      expect(await manager.count(WebhookDelivery)).toBe(1);
    },
  );

  it('costs its transaction the same, for any number of subscribers: deliveries are created after it, or before an endpoint is changed', async () => {
    const { service, manager, endpointAt, clock } = silent;
    for (let n = 0; n < 20; n += 1) await endpointAt(NOWHERE);
    await addAll(silent, 12);
    expect([await manager.count(WebhookMessage), await manager.count(WebhookDelivery)]).toEqual([12, 0]);
    // They wait, although no process sends.
    clock.advance(90_000);
    const labels = { endpoints: 'healthy' };
    expect(await service.metric('petstore_webhook_waiting_deliveries', labels)).toBe(12);
    expect(await service.metric('petstore_webhook_oldest_waiting_seconds', labels)).toBe(90);
    // What its own transaction has written is rolled back.
    const order = { clientId: service.clientId, url: NOWHERE, events: ['pets.created'] };
    await expect(endpointsOf(silent).create(order, SERVICE_ITSELF)).rejects.toThrow('20');
    expect(await manager.count(WebhookDelivery)).toBe(20 * 12);
  });

  it('of one id is written once, and only for one client if requested', async () => {
    const { service, messages, deliver, endpointAt } = all;
    const first = await receive();
    await endpointAt(first.url);
    const data = sent('X');
    await Promise.all([1, 2, 3].map(() => messages.send(WEBHOOK_PET_CREATED, data, { id: 'same' })));
    await messages.send(WEBHOOK_PET_CREATED, data, { id: 'other' });
    await messages.send(WEBHOOK_PET_CREATED, data, { clientId: service.clientId });
    await messages.send(WEBHOOK_PET_CREATED, data, { clientId: 'another' });
    await deliver();
    expect([new Set(first.ids).size, first.ids.length]).toEqual([3, 3]);
    expect(await statesOf(all)).toEqual(Array.from({ length: 3 }, () => ['delivered', 1, 204]));
  });
});

describe('an endpoint', () => {
  it('that fails gets the rest in order when it responds again', async () => {
    const { post, deliver, endpointAt, endpoint, clock, service } = all;
    const receiver = await receive(respondWith(503));
    const { id } = await endpointAt(receiver.url);
    for (const name of ['A', 'B', 'C']) await post(name);
    await deliver();
    clock.advance(3_000);
    expect(await service.metric('petstore_webhook_oldest_waiting_seconds')).toBe(3);
    expect(await service.metric('petstore_webhook_waiting_deliveries')).toBe(3);
    receiver.respond = respondWith(200);
    clock.advance(3_000);
    await deliver();
    expect(receiver.names).toEqual(['A', 'A', 'B', 'C']);
    expect(await endpoint(id)).toMatchObject({ failures: 0, failingSince: null, dueAt: 0n });
  });

  it('that is disabled by 410 shows why', async () => {
    const { post, deliver, endpointAt, endpoint } = all;
    const { id } = await endpointAt((await receive(respondWith(410))).url);
    await post('Gone');
    await deliver();
    expect(await endpoint(id)).toMatchObject({ disabledBecause: 'gone', failures: 0 });
    expect(await statesOf(all)).toEqual([['failed', 1, 410]]);
  });

  it('gets many messages over connections that are replaced now and then; others do not wait for it', async () => {
    const { service, post, deliver, endpointAt, deliveries } = all;
    const busy = await receive((response) => response.writeHead(200).end('x'.repeat(1_000)));
    const idle = await receive();
    await endpointAt(busy.url);
    await addAll(all, 120);
    expect(await deliveries()).toHaveLength(120);
    const order = { clientId: service.clientId, url: idle.url, events: ['pets.created'] };
    await endpointsOf(all).create(order, SERVICE_ITSELF);
    await post('Last');
    await deliver();
    expect(new Set((await statesOf(all)).map(([state, attempts]) => `${state} ${attempts}`))).toEqual(
      new Set(['delivered 1']),
    );
    expect(busy.names).toEqual([...Array.from({ length: 120 }, (_, n) => `N${n}`), 'Last']);
    expect(busy.connections).toBeLessThan(30);
    expect(idle.names).toEqual(['Last']);
  });

  it('of a suspended client receives nothing until the client is resumed', async () => {
    const { service, messages, deliver, endpointAt } = all;
    const clients = service.app.get(ClientsService);
    const { id: clientId } = await clients.create({ name: 'S', plan: 'free' }, SERVICE_ITSELF);
    const receiver = await receive();
    await endpointAt(receiver.url, { clientId });
    await clients.suspend(clientId, {}, SERVICE_ITSELF);
    await messages.send(WEBHOOK_PET_CREATED, sent('Kept'));
    await deliver();
    expect(receiver.names).toEqual([]);
    await clients.resume(clientId, SERVICE_ITSELF);
    await deliver();
    expect(receiver.names).toEqual(['Kept']);
  });
});

it('messages and their deliveries are deleted after WEBHOOK_RETENTION_DAYS, and no later one gets the id of one that was', async () => {
  const { service, post, deliver, deliveries, endpointAt, manager, clock } = all;
  await endpointAt((await receive()).url);
  await post('Old');
  await deliver();
  clock.advance(7 * DAY - 1_000);
  await post('New');
  await deliver();
  clock.advance(2_000);
  await service.app.get(Sweeper).sweep();
  expect([await manager.count(WebhookMessage), await manager.count(WebhookDelivery)]).toEqual([1, 1]);
  const [last] = await deliveries();
  await manager.delete(WebhookMessage, { id: last?.messageId });
  await post('Newer');
  expect((await deliveries()).map(({ id }) => id > (last?.id ?? 0n))).toEqual([true]);
});

it('pending messages are read from an index, no matter how many were delivered', async () => {
  // Of its own database: which index is read depends on what is in it.
  const { manager } = await open();
  const first = FIRST.replace('?1', `'x'`);
  for (const sql of [WAITING_ENDPOINTS, BACKLOG, first]) {
    const plan = await planOf(manager.connection, sql);
    const reads = plan.filter((step) => /(?:scan|search|on).*webhook_deliveries/i.test(step));
    expect(reads).not.toEqual([]);
    for (const step of reads.filter((one) => !/Cond:|Bitmap Heap/.test(one)))
      expect(step).toContain('webhook_deliveries_waiting');
  }
});

describe('an endpoint for which 10,000 messages and more wait', () => {
  /** Adds so many to the one that waits. */
  const MANY = `
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
    INSERT INTO webhook_deliveries (endpoint_id, message_id, state, attempts)
    SELECT endpoint_id, message_id, 'waiting', 0 FROM numbers CROSS JOIN webhook_deliveries`;

  it('is counted up to there at a scrape, so that its cost has a limit', async () => {
    const { manager, service, post, deliveries, endpointAt, clock } = silent;
    await endpointAt(NOWHERE);
    await post('First');
    await deliveries();
    await manager.query(MANY);
    clock.advance(7_000);
    expect(await service.metric('petstore_webhook_waiting_deliveries')).toBe(10_000);
    expect(await service.metric('petstore_webhook_oldest_waiting_seconds')).toBe(7);
  });

  it('is moved by nobody who may not read the last of them', async () => {
    const { manager, messages, service, post, deliveries, endpointAt } = silent;
    const { id } = await endpointAt(NOWHERE, {}, ['pets.created', 'quota.threshold']);
    await messages.send(WEBHOOK_QUOTA_THRESHOLD, reached, { clientId: service.clientId });
    await deliveries();
    await manager.query(MANY);
    await post('Last');
    await deliveries();
    await manager.delete(WebhookSubscription, { endpointId: id, event: 'pets.created' });
    const moved = (scopes: readonly string[]) =>
      endpointsOf(silent).update(id, { url: 'http://127.0.0.1:10/' }, { ...SERVICE_ITSELF, scopes });
    await expect(moved(['account'])).rejects.toMatchObject({ code: 'event_scope_not_held' });
    await expect(moved(['account', 'pets:read'])).resolves.toMatchObject({ id });
  });
});

it('a message is not sent again and again while the database refuses to note that it was', async () => {
  const { manager, post, deliver, endpointAt, deliveries } = await open({ database: 'file' });
  const receiver = await receive();
  await endpointAt(receiver.url);
  // It has the lease from now on.
  await post('First');
  await deliver();
  receiver.respond = async (response) => {
    await refuseWrites(manager.connection, true);
    response.writeHead(204).end();
  };
  await post('Second');
  await expect.poll(() => receiver.names).toEqual(['First', 'Second']);
  // refuseWrites() may also end the session that checks the server, which then counts as away for a moment.
  const deliverWhenBack = () => vi.waitFor(deliver, 60_000);
  for (let runs = 0; runs < 3; runs += 1) await deliverWhenBack();
  await refuseWrites(manager.connection, false);
  await deliverWhenBack();
  expect(receiver.names).toEqual(['First', 'Second']);
  expect(await deliveries()).toMatchObject([{ state: 'delivered' }, { state: 'delivered', attempts: 1 }]);
});
