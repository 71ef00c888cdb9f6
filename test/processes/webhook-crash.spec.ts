import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../src/auth/clients/client.entity.js';
import type { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { dataSourceOfTest, postgresOfTest } from '../support/databases.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { WebhookReceiver, addEndpoint } from '../support/webhook-receiver.js';

/** A receiver that answers from the moment on at which it is told to. */
async function receive(): Promise<WebhookReceiver & { setResponding: (does: boolean) => void }> {
  let isResponding = true;
  const receiver = await WebhookReceiver.start((response) => {
    if (isResponding) response.writeHead(204).end();
  });
  onTestFinished(() => receiver.stop());
  return Object.assign(receiver, { setResponding: (does: boolean) => void (isResponding = does) });
}

/** Reads the names of a receiver's animals as one that keeps each id once does. */
function deduplicated({ received }: WebhookReceiver): unknown[] {
  const seen = new Set<string>();
  return received.flatMap(({ id, body }) => (seen.size < seen.add(id).size ? [body.data.name] : []));
}

async function endpointOfDemo({ manager }: DataSource, url: string): Promise<WebhookEndpoint> {
  const { id } = await manager.findOneByOrFail(Client, { name: 'Demo' });
  return addEndpoint(manager, { clientId: id, url });
}

async function post(service: ServiceProcess, key: string, name: string): Promise<void> {
  const { status } = await service.request('POST', '/v1/pets', { key, json: { name, categoryId: 1 } });
  expect(status).toBe(201);
}

describe('kill -9 between commit and delivery', () => {
  it('loses no message, and each id comes once after deduplication, in order', async () => {
    const path = await folderOfTest();
    const settings = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };
    const receiver = await receive();
    let service = await ServiceProcess.start(path, settings);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const key = service.demoKey;
    const dataSource = await dataSourceOfTest(`sqlite:${join(path, 'data/petstore.sqlite')}`);
    const { secret } = await endpointOfDemo(dataSource, receiver.url);
    const names = ['a', 'b', 'c', 'd'];
    // The first is under way when the process is killed, those behind it were never sent.
    receiver.setResponding(false);
    for (const name of names) await post(service, key, name);
    await expect.poll(() => receiver.received.length).toBe(1);
    // Also what is killed before it has delivered anything.
    for (let kills = 0; kills < 2; kills += 1) {
      await service.stop('SIGKILL');
      service = await ServiceProcess.start(path, settings);
    }
    receiver.setResponding(true);
    await expect.poll(() => deduplicated(receiver)).toEqual(names);
    for (const { text, headers } of receiver.received)
      expect(() => new Webhook(secret).verify(text, headers as Record<string, string>)).not.toThrow();
    // At least once, and more than once for those alone that were under way.
    expect(receiver.received.length - names.length).toBeLessThanOrEqual(2);
  });
});

describeWith('postgres', 'kill -9 between commit and delivery, on PostgreSQL', () => {
  it('of one of two instances: the other delivers what both have committed, in order', async () => {
    const [path, database, redis] = [
      await folderOfTest(),
      await postgresOfTest(),
      await RedisServer.ofTest(),
    ];
    const settings = {
      DATABASE_URL: database,
      REDIS_URL: redis.url,
      REDIS_TIMEOUT_MS: '1000',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    };
    const first = await serviceOfTest(path, settings);
    const second = await serviceOfTest(path, settings);
    const key = first.demoKey;
    const receiver = await receive();
    const names: string[] = [];
    const postTo = async (service: ServiceProcess): Promise<void> => {
      const name = randomUUID();
      names.push(name);
      await post(service, key, name);
    };
    // Both have looked whether anybody subscribes; an endpoint that any process adds counts from the next request on.
    await post(first, key, 'nobody');
    await post(second, key, 'nobody');
    await endpointOfDemo(await dataSourceOfTest(database), receiver.url);
    for (let n = 0; n < 6; n += 1) await postTo(n % 2 === 0 ? first : second);
    await expect.poll(() => receiver.names).toEqual(names);
    receiver.setResponding(false);
    await postTo(first);
    await postTo(second);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(6);
    await first.stop('SIGKILL');
    receiver.setResponding(true);
    await postTo(second);
    await expect.poll(() => deduplicated(receiver)).toEqual(names);
    expect(receiver.received.length - names.length).toBeLessThanOrEqual(1);
  });
});

it('a restarted process continues with what it had claimed when it was killed, and stops although a receiver hangs', async () => {
  const settings = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };
  const path = await folderOfTest();
  const receiver = await receive();
  const killed = await serviceOfTest(path, settings);
  const dataSource = await dataSourceOfTest(`sqlite:${join(path, 'data/petstore.sqlite')}`);
  await endpointOfDemo(dataSource, receiver.url);
  receiver.setResponding(false);
  await post(killed, killed.demoKey, 'X');
  await expect.poll(() => receiver.received.length).toBe(1);
  await killed.stop('SIGKILL');
  const again = await serviceOfTest(path, settings);
  // Once the lease of the killed process is over.
  await expect.poll(() => receiver.received.length).toBe(2);
  const startedAt = performance.now();
  expect((await again.stop('SIGTERM')).code).toBe(0);
  // The attempt has two seconds; requests would have ten.
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  expect(await dataSource.query(`SELECT holder FROM leases WHERE name = 'webhooks'`)).toEqual([
    { holder: null },
  ]);
  expect(again.output).not.toContain('did not take');
});
