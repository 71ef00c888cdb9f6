import { expect, it } from 'vitest';
import { type TestService, type TestServiceOptions } from '../kit/test-service.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WebhookFanOuts } from '../../src/webhooks/webhook-fan-outs.js';
import { goOn, hammer } from '../support/earn-ban.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { addEndpoint } from '../support/webhook-receiver.js';
import { databaseOf, openForTest } from '../support/opened.js';

/** Maximum time until an instance counts in Redis, on a machine that is busy, in milliseconds. */
const UP_WITHIN = { timeout: 60_000 };

/** Two instances on one database and one Redis, with a client that the first has made. */
async function twoInstances(options: TestServiceOptions) {
  const redis = await RedisServer.ofTest();
  const environment = { REDIS_URL: redis.url, REDIS_TIMEOUT_MS: '2000' };
  const one = await openForTest({ database: 'file', ...options, environment });
  const other = await openForTest({ environment: { ...environment, ...databaseOf(one) } });
  const services = [one, other] as const;
  for (const service of services)
    await expect.poll(() => service.metric('petstore_quota_redis_up'), UP_WITHIN).toBe(1);
  return { redis, one, other, services };
}

/** Waits until each has learned of the other with its next heartbeat. */
async function untilKnown(services: readonly TestService[]): Promise<void> {
  for (const service of services)
    await expect.poll(() => service.metric('petstore_quota_redis_instances'), UP_WITHIN).toBe(2);
}

/** Whose quota two such instances tell of. */
const CLIENT = { plan: 'enterprise', limits: { perMinute: 10, perDay: 1_000 } } as const;

/** Adds an endpoint that subscribes to an event; returns its messages, in order, once both instances have written them. */
async function messagesOf(event: string, services: readonly [TestService, TestService]) {
  const [one] = services;
  const url = 'https://shop.example.com/';
  const endpoint = await addEndpoint(
    one.repository(WebhookDelivery).manager,
    { clientId: one.clientId, url },
    [event],
  );
  return async () => {
    await Promise.all(services.map((service) => service.settled()));
    await one.app.get(WebhookFanOuts).catchUp();
    const rows = await one.repository(WebhookDelivery).find({
      where: { endpointId: endpoint.id },
      order: { id: 'ASC' },
      relations: { message: true },
    });
    return rows.map(({ message }) => (JSON.parse(message.payload) as { data: Record<string, unknown> }).data);
  };
}

describeWith('redis-server', 'what two instances find out that count in one Redis', () => {
  it('of the shares of a quota is sent once for each window, whichever of them reaches it', async () => {
    const { one, other, services } = await twoInstances(CLIENT);
    const messages = await messagesOf('quota.threshold', services);
    const shares = async () =>
      (await messages()).map(
        ({ window, percent, used }) => `${String(window)} ${String(percent)}: ${String(used)}`,
      );
    await hammer(one, 4, one.key);
    await hammer(other, 3, one.key);
    expect(await shares()).toEqual([]);
    await hammer(other, 1, one.key);
    expect(await shares()).toEqual(['minute 80: 8']);
    await hammer(one, 2, one.key);
    expect(await shares()).toEqual(['minute 80: 8', 'minute 100: 10']);
    for (const service of [one, other, one]) expect((await hammer(service, 1, one.key)).status).toBe(429);
    expect(await shares()).toHaveLength(2);
    for (const service of services) service.clock.advance(60_000);
    // Both at the same time, in the next window.
    await Promise.all(services.map((service) => hammer(service, 6, one.key)));
    // If two instances detect it at the same time, either sends the message, with its own count, which may already be 10.
    expect((await shares()).slice(2).toSorted()).toEqual([
      'minute 100: 10',
      expect.stringMatching(/^minute 80: (?:8|9|10)$/),
    ]);
  });

  it('of a ban is sent once, although both refuse the key', async () => {
    const { one, other, services } = await twoInstances(CLIENT);
    const messages = await messagesOf('api_key.banned', services);
    const keyId = ((await one.request('GET', '/account')).body as { key: { id: string } }).key.id;
    await hammer(one, 11, one.key);
    for (const service of services) service.clock.advance(2_000);
    expect((await goOn(one, 20, one.key)).body.code).toBe('api_key_banned');
    other.clock.advance(19_000);
    for (const service of [other, one, other])
      expect((await hammer(service, 1, one.key)).body.code).toBe('api_key_banned');
    expect(await messages()).toMatchObject([{ keyId, bannedUntil: expect.stringMatching(/Z$/) as string }]);
  });
});

describeWith('redis-server', 'the bound of two instances on reads of the account', () => {
  it('is shared, uses up nothing, and still applies when Redis is down', async () => {
    const scopes = ['account', 'pets:read'];
    const { redis, one, other, services } = await twoInstances({ plan: 'free', scopes });
    const reads = async (times: number) => {
      const statuses = [];
      for (let sent = 0; sent < times; sent += 1) {
        const at = sent % 2 === 0 ? one : other;
        statuses.push((await at.request('GET', '/account', { key: one.key })).status);
      }
      return statuses.filter((status) => status === 200).length;
    };
    const keys = () => other.request('GET', '/account/keys', { key: one.key });
    await hammer(one, 3, one.key);
    expect(await reads(70)).toBe(60);
    const { body, headers } = await keys();
    expect([body.length, headers.get('x-ratelimit-remaining')]).toEqual([1, '57']);

    // The same for what each key has a bound of as well.
    const lists = [];
    for (const { key } of [await one.issueKey({ scopes }), await one.issueKey({ scopes })])
      for (let sent = 0; sent < 32; sent += 1)
        lists.push((await (sent % 2 === 0 ? one : other).request('GET', '/account/keys', { key })).status);
    expect(lists.filter((status) => status === 200)).toHaveLength(59);

    for (const service of services) service.clock.advance(60_000);
    await untilKnown(services);
    expect(await reads(20)).toBe(20);
    await redis.kill();
    // Half of the bound for each.
    expect(await reads(80)).toBe(60);
    const away = await keys();
    expect(away.status).toBe(200);
    expect(Number(away.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
  });
});

describeWith('redis-server', 'of two instances, while Redis is away,', () => {
  it('one admits half of a quota, says so, and bans nobody who requests more', async () => {
    const { redis, one, other, services } = await twoInstances(CLIENT);
    await untilKnown(services);
    await hammer(one, 10, one.key);
    await redis.kill();
    for (let left = 4; left >= 0; left -= 1) {
      const { status, headers } = await hammer(one, 1, one.key);
      expect(status).toBe(200);
      expect(headers.get('ratelimit-policy')).toBe('"minute";q=5;w=60, "day";q=500;w=86400');
      expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
        '5',
        String(left),
      ]);
    }
    const refused = await goOn(one, 30, one.key);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await hammer(other, 1, one.key)).status).toBe(200);
  });
});
