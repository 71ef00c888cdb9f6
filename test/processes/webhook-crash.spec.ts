import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../src/auth/clients/client.entity.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeDatabase } from '../kit/test-database.js';
import type { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';
import { WebhookReceiver, addEndpoint } from '../support/webhook-receiver.js';

const ROUNDS = 3;

/** A receiver that answers from the moment on at which it is told to. */
async function receive(): Promise<WebhookReceiver & { answers: (does: boolean) => void }> {
  let isAnswering = true;
  const receiver = await WebhookReceiver.start((response) => {
    if (isAnswering) response.writeHead(204).end();
  });
  onTestFinished(() => receiver.stop());
  return Object.assign(receiver, { answers: (does: boolean) => void (isAnswering = does) });
}

/** Reads the names of a receiver's animals as one that keeps each id once does. */
function deduplicated({ received }: WebhookReceiver): unknown[] {
  const seen = new Set<string>();
  return received.flatMap(({ id, body }) => (seen.size < seen.add(id).size ? [body.data.name] : []));
}

async function open(databaseUrl: string): Promise<DataSource> {
  const dataSource = await openDataSource({ databaseUrl });
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

async function endpointOfDemo({ manager }: DataSource, url: string): Promise<WebhookEndpoint> {
  const { id } = await manager.findOneByOrFail(Client, { name: 'Demo' });
  return addEndpoint(manager, { clientId: id, url });
}

const keyIn = (service: ServiceProcess): string => /pst_test_\w+/.exec(service.output)?.[0] ?? '';

async function post(service: ServiceProcess, key: string, name: string): Promise<void> {
  const { status } = await fetch(`${service.url}/v1/pets`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, categoryId: 1 }),
  });
  expect(status).toBe(201);
}

/** Kills the service several times with messages under way; answers their names, and those of which the receiver has learnt. */
async function killed(folder: string, environment: NodeJS.ProcessEnv, databaseUrl: string) {
  const settings = { ...environment, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };
  const receiver = await receive();
  let service = await ServiceProcess.start(folder, settings);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const key = keyIn(service);
  const dataSource = await open(databaseUrl);
  const { secret } = await endpointOfDemo(dataSource, receiver.url);
  const names: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // The first is under way when the process is killed, those behind it were never sent.
    receiver.answers(false);
    const before = receiver.received.length;
    for (let n = 0; n < 4; n += 1) {
      names.push(`${round}/${n}`);
      await post(service, key, `${round}/${n}`);
    }
    await expect.poll(() => receiver.received.length).toBeGreaterThan(before);
    await service.stop('SIGKILL');
    receiver.answers(true);
    service = await ServiceProcess.start(folder, settings);
    // Also what is killed before it has delivered anything.
    if (round === 0) {
      await service.stop('SIGKILL');
      service = await ServiceProcess.start(folder, settings);
    }
    await expect.poll(() => deduplicated(receiver)).toEqual(names);
  }
  for (const { text, headers } of receiver.received)
    expect(() => new Webhook(secret).verify(text, headers as Record<string, string>)).not.toThrow();
  // At least once, and more than once for those alone that were under way.
  expect(receiver.received.length - names.length).toBeLessThanOrEqual(2 * ROUNDS);
  return { names, received: deduplicated(receiver) };
}

describe('kill -9 between commit and delivery', () => {
  it('loses no message on SQLite, and each id comes once after deduplication, in order', async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const { names, received } = await killed(path, {}, `sqlite:${join(path, 'data/petstore.sqlite')}`);
    expect(received).toEqual(names);
  });
});

describeWith('postgres', 'kill -9 between commit and delivery, on PostgreSQL', () => {
  it('loses no message, and each id comes once after deduplication, in order', async () => {
    const [{ path, remove }, database] = [await emptyFolder(), await makeDatabase('postgres')];
    onTestFinished(remove);
    onTestFinished(database.remove);
    const { names, received } = await killed(path, { DATABASE_URL: database.url }, database.url);
    expect(received).toEqual(names);
  });

  it('of one of two instances: the other delivers what both have committed, in order', async () => {
    const [{ path, remove }, database, redis] = [
      await emptyFolder(),
      await makeDatabase('postgres'),
      await RedisServer.start(),
    ];
    onTestFinished(remove);
    onTestFinished(database.remove);
    onTestFinished(() => redis.remove());
    const settings = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      REDIS_TIMEOUT_MS: '1000',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    };
    const first = await ServiceProcess.start(path, settings);
    const second = await ServiceProcess.start(path, settings);
    onTestFinished(async () => void (await Promise.all([first, second].map((one) => one.stop('SIGKILL')))));
    const key = keyIn(first);
    const receiver = await receive();
    const dataSource = await open(database.url);
    const names: string[] = [];
    const postTo = async (service: ServiceProcess): Promise<void> => {
      const name = randomUUID();
      names.push(name);
      await post(service, key, name);
    };
    // Both have looked whether anybody subscribes; an endpoint that any process adds counts from the next request on.
    await post(first, key, 'nobody');
    await post(second, key, 'nobody');
    await endpointOfDemo(dataSource, receiver.url);
    for (let n = 0; n < 10; n += 1) await postTo(n % 2 === 0 ? first : second);
    await expect.poll(() => receiver.names).toEqual(names);
    receiver.answers(false);
    await postTo(first);
    await postTo(second);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(10);
    await first.stop('SIGKILL');
    receiver.answers(true);
    await postTo(second);
    await expect.poll(() => deduplicated(receiver)).toEqual(names);
    expect(receiver.received.length - names.length).toBeLessThanOrEqual(1);
  });
});

describe('a process that serves alone', () => {
  const settings = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };

  const started = async () => {
    const { path, remove } = await emptyFolder();
    onTestFinished(remove);
    const receiver = await receive();
    const service = await ServiceProcess.start(path, settings);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    const dataSource = await open(`sqlite:${join(path, 'data/petstore.sqlite')}`);
    await endpointOfDemo(dataSource, receiver.url);
    receiver.answers(false);
    await post(service, keyIn(service), 'X');
    await expect.poll(() => receiver.received.length).toBe(1);
    return { path, receiver, service, dataSource };
  };

  it('goes on at once with what it had taken when it was killed', async () => {
    const { path, receiver, service } = await started();
    await service.stop('SIGKILL');
    receiver.answers(true);
    const again = await ServiceProcess.start(path, settings);
    onTestFinished(async () => void (await again.stop('SIGKILL')));
    // Another process would wait for 15 s.
    await expect.poll(() => receiver.received.length, { timeout: 8_000 }).toBe(2);
  });

  it('stops although a receiver hangs, leaves the lease free, and says nothing of lost counts', async () => {
    const { service, dataSource } = await started();
    const began = performance.now();
    expect((await service.stop('SIGTERM')).code).toBe(0);
    // The attempt has two seconds; requests would have ten.
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(await dataSource.query(`SELECT holder FROM leases WHERE name = 'webhooks'`)).toEqual([
      { holder: null },
    ]);
    expect(service.output).not.toContain('did not take');
  });
});
