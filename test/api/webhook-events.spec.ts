import { describe, expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { Jobs } from '../../src/events/jobs/jobs.js';
import { TestService } from '../kit/test-service.js';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service.js';
import { Int64 } from '../../src/http/validation/fields.js';
import { defineWebhookEvent } from '../../src/webhooks/webhook-events.js';
import { WebhookFanOuts } from '../../src/webhooks/webhook-fan-outs.js';
import { WebhookMessages } from '../../src/webhooks/webhook-messages.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { dueNotice } from '../../src/webhooks/sources/expiring-keys.js';
import { asClient } from '../support/as-client.js';
import { earnBan, hammer } from '../support/earn-ban.js';
import { databaseOf, openForTest } from '../support/opened.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOTICES = ['api_key.expiring'];

const open = openForTest;

/** Two services on one database, each with counters of its own. */
async function twoInstances(): Promise<[TestService, TestService]> {
  const one = await open({ database: 'file', plan: 'enterprise', limits: { perMinute: 10, perDay: 1_000 } });
  return [one, await open({ environment: databaseOf(one) })];
}

/** Creates an endpoint of the client that subscribes to these events. */
async function endpoint(
  service: TestService,
  events: string[],
  clientId = service.clientId,
): Promise<string> {
  const order = { clientId, url: 'https://shop.example.com/webhooks', events };
  return (await service.app.get(WebhookEndpointsService).create(order, SERVICE_ITSELF)).id;
}

/** The messages for endpoints of the service, in order: event and data. */
async function messagesOf(service: TestService) {
  await service.settled();
  await service.app.get(WebhookFanOuts).catchUp();
  const rows = await service
    .repository(WebhookDelivery)
    .find({ order: { id: 'ASC' }, relations: { message: true } });
  return rows.map(({ endpointId, message }) => {
    const { type, data } = JSON.parse(message.payload);
    return { endpointId, type, data };
  });
}

defineWebhookEvent('toys.sold', { description: 'A toy was sold. `data`: `id | name`.' });

class ReturnedToy {
  @Int64()
  id!: bigint;
}

const RETURNED = defineWebhookEvent('toys.returned', { description: 'It came back.', data: ReturnedToy });

it('has what the class of its data declares, and nothing else', async () => {
  const service = await open();
  const endpointId = await endpoint(service, [RETURNED.name]);
  const toy = { id: 2n ** 53n - 1n, supplierNote: 'pays late' };
  await service.app.get(WebhookMessages).send(RETURNED, toy);
  const data = { id: 2 ** 53 - 1 };
  expect(await messagesOf(service)).toEqual([{ endpointId, type: RETURNED.name, data }]);
});

it('is in the document that is served, whichever module declares it', async () => {
  const { info } = (await open()).accountDocument;
  expect(info.description).toMatch(
    /^\| `toys\.sold` +\| A toy was sold\. `data`: `id \\\| name`\. +\| +\|$/m,
  );
  expect(info.description).toMatch(/^\| `pets\.created` .* \| `pets:read` \|$/m);
});

describe('api_key.expiring', () => {
  const checkExpiry = (service: TestService) => service.app.get(Jobs).run('api_keys.tell_of_end');
  const notices = async (service: TestService) =>
    (await messagesOf(service)).map(({ data: { keyId, notice } }) => `${keyId} ${notice}`);

  it('is announced 7 days and 1 day before the end, once each, whichever instance checks', async () => {
    const service = await open();
    await endpoint(service, NOTICES);
    const { id } = await service.issueKey({ expires: 30 * DAY });
    await service.issueKey();
    await checkExpiry(service);
    service.clock.advance(23 * DAY - 1);
    await checkExpiry(service);
    expect(await notices(service)).toEqual([]);
    service.clock.advance(1);
    for (let times = 0; times < 3; times += 1) await checkExpiry(service);
    expect(await messagesOf(service)).toMatchObject([
      {
        type: 'api_key.expiring',
        data: {
          keyId: id,
          prefix: expect.stringMatching(/^pst_test_/),
          label: null,
          notice: '7d',
          expiresAt: '2026-12-20T12:00:10.250Z',
          replacedBy: null,
        },
      },
    ]);
    service.clock.advance(6 * DAY);
    await checkExpiry(service);
    service.clock.advance(DAY - 1);
    await checkExpiry(service);
    service.clock.advance(1);
    await checkExpiry(service);
    expect(await notices(service)).toEqual([`${id} 7d`, `${id} 1d`]);
  });

  it('is sent for an end that was brought forward, and not for a revoked key', async () => {
    const service = await open();
    await endpoint(service, NOTICES);
    const soon = await service.issueKey();
    const sooner = await service.issueKey({ expires: 90 * DAY });
    const revoked = await service.issueKey({ expires: 30 * DAY });
    service.clock.advance(10 * DAY);
    const keys = service.app.get(ApiKeysService);
    await keys.update(soon.id, { expires: 3 * DAY }, {}, SERVICE_ITSELF);
    await keys.update(sooner.id, { expires: 2 * HOUR }, {}, SERVICE_ITSELF);
    service.clock.advance(HOUR);
    await keys.revoke(revoked.id, {}, SERVICE_ITSELF);
    await checkExpiry(service);
    expect((await notices(service)).toSorted()).toEqual([`${soon.id} 7d`, `${sooner.id} 1d`].toSorted());
    service.clock.advance(DAY);
    await keys.update(soon.id, { expires: DAY }, {}, SERVICE_ITSELF);
    await checkExpiry(service);
    await checkExpiry(service);
    expect((await notices(service)).slice(2)).toEqual([`${soon.id} 1d`]);
  });

  it('is sent for a rotated key that may still be in use, with its successor', async () => {
    const service = await open();
    await endpoint(service, NOTICES);
    const { id } = await service.issueKey();
    service.clock.advance(10 * DAY);
    const { apiKey } = await service.app.get(KeyIssuingService).rotate(id, { grace: DAY }, SERVICE_ITSELF);
    await checkExpiry(service);
    expect(await messagesOf(service)).toMatchObject([
      { data: { keyId: id, notice: '1d', replacedBy: apiKey.id } },
    ]);
    await service.app.get(KeyIssuingService).rotate(apiKey.id, { grace: 0 }, SERVICE_ITSELF);
    await checkExpiry(service);
    expect(await notices(service)).toHaveLength(1);
  });

  it('is sent only to endpoints of the client, once one subscribes', async () => {
    const service = await open();
    const { clientId: other } = await service.issueKey({ plan: 'pro' });
    await endpoint(service, NOTICES, other);
    await endpoint(service, ['quota.threshold']);
    const { id } = await service.issueKey({ expires: 10 * DAY });
    service.clock.advance(4 * DAY);
    await checkExpiry(service);
    expect(await messagesOf(service)).toEqual([]);
    const endpointId = await endpoint(service, NOTICES);
    await checkExpiry(service);
    expect(await messagesOf(service)).toMatchObject([{ endpointId, data: { keyId: id } }]);
  });

  it.each([
    ['30 days', 7 * DAY + 1, undefined],
    ['30 days', 7 * DAY, '7d'],
    ['30 days', DAY + 1, '7d'],
    ['30 days', DAY, '1d'],
    ['30 days', 1, '1d'],
    ['30 days', 0, undefined],
    ['7 days', 6 * DAY, undefined],
    ['7 days', DAY, '1d'],
    ['1 day', DAY, undefined],
    ['1 day', HOUR, undefined],
    ['1 hour', 1, undefined],
    // Its end was brought forward since.
    ['30 days', DAY, '1d', HOUR],
    ['no end', 3 * DAY, '7d', HOUR],
  ])('of a key made for %s, %d ms before its end, is %s', (life, left, expected, age = 0) => {
    const [count, unit] = life.split(' ');
    const now = Date.parse('2026-11-20T12:00:00.000Z');
    const end = now + left;
    const made = Number(count) * (unit?.startsWith('day') ? DAY : HOUR);
    const createdAt = new Date(age === 0 ? end - made : now - age);
    const issuedUntil = life === 'no end' ? null : new Date(createdAt.getTime() + made).toISOString();
    const key = { createdAt: createdAt.toISOString(), expiresAt: new Date(end).toISOString(), issuedUntil };
    expect(dueNotice(key, now)).toBe(expected);
  });
});

describe('api_key.banned', () => {
  it('is sent when a key is banned, once, to endpoints of its client', async () => {
    const service = await open({ plan: 'free' });
    const { clientId: other } = await service.issueKey({ plan: 'pro' });
    const endpointId = await endpoint(service, ['api_key.banned']);
    await endpoint(service, ['api_key.banned'], other);
    const banned = await earnBan(service);
    expect(banned.body.code).toBe('api_key_banned');
    await hammer(service, 3);
    const bannedUntil = new Date(Number(banned.headers.get('x-ratelimit-reset')) * 1000).toISOString();
    const { body } = await service.request('GET', '/account');
    expect(await messagesOf(service)).toMatchObject([
      {
        endpointId,
        type: 'api_key.banned',
        data: { keyId: body.key.id, prefix: body.key.prefix, label: null, bannedUntil: expect.any(String) },
      },
    ]);
    const [{ data } = { data: {} }] = await messagesOf(service);
    expect(Math.ceil(Date.parse(data.bannedUntil) / 1000)).toBe(Date.parse(bannedUntil) / 1000);
  });
});

describe('quota.threshold', () => {
  const reached = async (service: TestService) =>
    (await messagesOf(service)).map(
      ({ data: { window, percent, limit, used } }) => `${window} ${percent} ${limit}: ${used}`,
    );

  it('is sent at 80 % and 100 % of the minute and of the day, once for each window', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 10, perDay: 20 } });
    const endpointId = await endpoint(service, ['quota.threshold']);
    await hammer(service, 7);
    expect(await reached(service)).toEqual([]);
    await hammer(service, 1);
    expect(await messagesOf(service)).toEqual([
      {
        endpointId,
        type: 'quota.threshold',
        data: { window: 'minute', percent: 80, limit: 10, used: 8, resetsAt: '2026-11-20T12:01:00.000Z' },
      },
    ]);
    await hammer(service, 4);
    const other = await asClient(service, { plan: 'enterprise', limits: { perMinute: 10, perDay: 20 } });
    await endpoint(other, ['quota.threshold']);
    await hammer(other, 8, other.key);
    expect((await reached(service)).slice(2)).toEqual(['minute 80 10: 8']);
    service.clock.set('2026-11-20T12:01:10.000Z');
    await hammer(service, 12);
    expect(await reached(service)).toEqual([
      'minute 80 10: 8',
      'minute 100 10: 10',
      'minute 80 10: 8',
      'day 80 20: 16',
      'minute 80 10: 8',
      'minute 100 10: 10',
      'day 100 20: 20',
    ]);
  });

  it('is sent for a reduced limit and, at its own thresholds, for a raised one', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 100, perDay: 1_000 } });
    await endpoint(service, ['quota.threshold']);
    const clients = service.app.get(ClientsService);
    await hammer(service, 9);
    await clients.update(service.clientId, { perMinute: 5 }, SERVICE_ITSELF);
    await hammer(service, 2);
    await clients.update(service.clientId, { perMinute: 12 }, SERVICE_ITSELF);
    await hammer(service, 1);
    expect(await reached(service)).toEqual(['minute 80 5: 9', 'minute 100 5: 9', 'minute 80 12: 10']);
  });

  it('is not sent for addresses and for operations that are not counted', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 100, perDay: 100 } });
    await endpoint(service, ['quota.threshold']);
    for (let sent = 0; sent < 61; sent += 1) await service.request('GET', '/v1/pets', { key: null });
    for (let sent = 0; sent < 61; sent += 1) await service.request('GET', '/account');
    expect(await reached(service)).toEqual([]);
  });

  it('delays and fails no request: it is sent later, and failures are logged', async () => {
    const service = await open({ plan: 'enterprise', limits: { perMinute: 5, perDay: 5 } });
    await endpoint(service, ['quota.threshold']);
    const send = vi.spyOn(service.app.get(WebhookMessages), 'send');
    // It ends when the suite does: a request that waited for it would never be answered.
    let fail: (error: Error) => void = () => undefined;
    send.mockReturnValue(new Promise((_, reject) => (fail = reject)));
    for (let sent = 0; sent < 5; sent += 1) expect((await hammer(service, 1)).status).toBe(200);
    expect((await hammer(service, 1)).status).toBe(429);
    expect(send).toHaveBeenCalled();
    send.mockRejectedValue(new Error('The database is away.'));
    service.clock.set('2026-11-21T00:00:00.000Z');
    for (let sent = 0; sent < 5; sent += 1) expect((await hammer(service, 1)).status).toBe(200);
    fail(new Error('The database is away.'));
    await service.settled();
    send.mockRestore();
  });
});

describe('two instances on one database', () => {
  it('send the same event once: a used-up quota, and the end of a key', async () => {
    const [one, other] = await twoInstances();
    await endpoint(one, ['quota.threshold', 'api_key.expiring']);
    const { id } = await one.issueKey({ expires: 10 * DAY });
    for (const instance of [one, other]) await hammer(instance, 10, one.key);
    await Promise.all([one, other].map((instance) => instance.settled()));
    for (const instance of [one, other]) {
      instance.clock.advance(4 * DAY);
      await instance.app.get(Jobs).run('api_keys.tell_of_end');
    }
    const messages = (await messagesOf(one)).map(
      ({ data }) => data.percent ?? `${data.keyId} ${data.notice}`,
    );
    expect(messages).toEqual([80, 100, `${id} 7d`]);
  });
});
