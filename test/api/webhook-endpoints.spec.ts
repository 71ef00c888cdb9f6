import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { type TestResponse, TestService } from '../kit/test-service.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { WebhookEndpoint, WebhookSubscription } from '../../src/webhooks/webhook-endpoint.entity.js';
import { WebhookMessage } from '../../src/webhooks/webhook-message.entity.js';
import { openClients } from '../support/as-client.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const AT = '2026-11-20T12:00:10.250Z';
const HOLDER = ['account', 'admin', 'pets:read', 'pets:write'];
const TOO_LONG = `https://shop.example.com/${'a'.repeat(2_048)}`;
/** By its checksum a key. */
const KEY = `pst_test_${'0'.repeat(30)}2Wj70T`;
const UNKNOWN = Array.from({ length: 51 }, (_, n) => `toys.${n}`);
const NOBODY = '00000000-0000-4000-8000-000000000000';
const URL_OF_SHOP = 'https://shop.example.com/webhooks?token=s3cret';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** Self-service and administration: the same operations at two addresses. */
const AUDIENCES = ['/account', '/admin'] as const;

const open = await openClients({ scopes: HOLDER });

const outcome = ({ status, body }: TestResponse) => (status < 300 ? status : `${status} ${body.code}`);

/** An order of an endpoint, at one of the audiences. */
const orderAt = (service: TestService, audience: string, order: object = {}) => ({
  url: URL_OF_SHOP,
  events: ['pets.created'],
  ...(audience === '/admin' ? { clientId: service.clientId } : {}),
  ...order,
});

async function make(
  service: TestService,
  audience = '/account',
  order: object = {},
): Promise<TestResponse['body']> {
  const json = orderAt(service, audience, order);
  const { status, body, text } = await service.request('POST', `${audience}/webhooks`, { json });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return body;
}

/** Writes a message into the log of an endpoint, as if it had been sent. */
async function logged(
  service: TestService,
  endpointId: string,
  values: Partial<WebhookDelivery> = {},
  event = 'pets.created',
): Promise<{ id: string; messageId: string }> {
  const count = await service.repository(WebhookMessage).count();
  const messageId = `msg_${String(count).padStart(32, '0')}`;
  await service.repository(WebhookMessage).insert({
    id: messageId,
    event,
    payload: `{"type":"${event}","timestamp":"${AT}","data":{"id":9007199254740993}}`,
    createdAt: AT,
  });
  const delivery = service.repository(WebhookDelivery).create({
    endpointId,
    messageId,
    state: 'delivered',
    attempts: 1,
    attemptedAt: AT,
    status: 204,
    error: null,
    ...values,
  });
  await service.repository(WebhookDelivery).insert(delivery);
  return { id: String(delivery.id), messageId };
}

/** All that is ordered of one endpoint, behind its address. */
const onOne = (deliveryId: string) =>
  [
    ['GET', '', undefined],
    ['PATCH', '', { enabled: false }],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', {}],
    ['POST', '/test', undefined],
    ['GET', '/deliveries', undefined],
    ['GET', `/deliveries/${deliveryId}`, undefined],
    ['POST', `/deliveries/${deliveryId}/redeliver`, undefined],
    ['POST', '/retry', undefined],
    ['POST', `/deliveries/${deliveryId}/retry`, undefined],
  ] as const;

const actions = async (service: TestService) =>
  (await service.repository(AuditEntry).find({ order: { id: 'ASC' } }))
    .filter((entry) => entry.action.startsWith('webhook_endpoint.') && entry.clientId === service.clientId)
    .map(({ action, clientId, details }) => ({ action, clientId, details }));

describe.each(AUDIENCES)('webhook endpoints under %s', (audience) => {
  const address = `${audience}/webhooks`;
  let client: TestService;
  let endpointId: string;
  beforeAll(async () => {
    client = await open();
    ({ id: endpointId } = await make(client, audience));
  });

  it('is created with a secret that is shown only once', async () => {
    const service = await open();
    const { status, headers, body } = await service.request('POST', address, {
      json: orderAt(service, audience, {
        label: 'Shop',
        events: ['quota.threshold', 'pets.created', 'pets.created'],
      }),
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('location')).toBe(`${address}/${body.id}`);
    expect(body).toEqual({
      id: expect.any(String),
      secret: expect.stringMatching(SECRET),
      clientId: service.clientId,
      clientName: expect.any(String),
      url: URL_OF_SHOP,
      label: 'Shop',
      events: ['pets.created', 'quota.threshold'],
      enabled: true,
      disabledAt: null,
      disabledBecause: null,
      failingSince: null,
      nextAttemptAt: null,
      lastError: null,
      previousSecretUntil: null,
      createdAt: AT,
    });
    const { secret, ...shown } = body;
    const one = await service.request('GET', `${address}/${body.id}`);
    expect(one.body).toEqual({ ...shown, waiting: 0 });
    const ofClient = audience === '/admin' ? `?client=${service.clientId}` : '';
    const all = await service.request('GET', address + ofClient);
    expect(all.body).toEqual([shown]);
    expect(one.text + all.text).not.toContain(secret);
    expect(await service.repository(WebhookEndpoint).countBy({ secret })).toBe(1);
  });

  it.each([
    [{ url: 'https://shop.example.com/a b' }, 'url', 'malformed'],
    [{ url: 'https://169.254.169.254/latest/' }, 'url', 'not_allowed'],
    [{ url: TOO_LONG }, 'url', 'too_long'],
    [{ url: undefined }, 'url', 'required'],
    [{ events: [] }, 'events', 'not_a_list_of_names'],
    [{ events: UNKNOWN }, 'events', 'not_a_list_of_names'],
    [{ events: ['pets.created', 'webhook.test'] }, 'events.1', 'unknown_event'],
    [{ events: undefined }, 'events', 'required'],
    [{ label: '' }, 'label', 'blank'],
    [{ label: KEY }, 'label', 'holds_api_key'],
    [{ url: `https://shop.example.com/${KEY}` }, 'url', 'holds_api_key'],
    [{ secret: 'whsec_AAAA' }, 'secret', 'unknown_field'],
  ])('refuses %o', async (order, field, code) => {
    // Every row has its own minute, within the bound of self-service.
    client.clock.advance(60_000);
    const json = orderAt(client, audience, order);
    const { status, body, text } = await client.request('POST', address, { json });
    expect(status).toBe(400);
    expect(body.details).toContainEqual({ field, code, message: expect.any(String) });
    expect(body.details.length < 20 && !text.includes(KEY)).toBe(true);
    if (!('url' in order) || order.url === undefined) return;
    const changed = await client.request('PATCH', `${address}/${endpointId}`, { json: order });
    expect(changed.body.details).toEqual(body.details);
  });

  it('refuses an address in another form, shows the form in which it is called, and accepts that', async () => {
    client.clock.advance(60_000);
    const [url, normal] = ['https://Shop.example.com:443/a/../b', 'https://shop.example.com/b'];
    for (const [method, path, order] of [
      ['POST', address, orderAt(client, audience, { url })],
      ['PATCH', `${address}/${endpointId}`, { url }],
    ] as const) {
      const { status, body } = await client.request(method, path, { json: order });
      const message = `The URL must be written in its normal form: ${normal}`;
      expect([status, body.details]).toEqual([400, [{ field: 'url', code: 'malformed', message }]]);
    }
    const changed = await client.request('PATCH', `${address}/${endpointId}`, { json: { url: normal } });
    expect([changed.status, changed.body.url]).toEqual([200, normal]);
  });

  it('keeps an address in another form that was accepted before, also when it is ordered again', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const url = 'HTTPS://Shop.example.com:443/a/../b';
    await service.repository(WebhookEndpoint).update({ id }, { url });
    const json = { url, label: 'Shop' };
    const { status, body } = await service.request('PATCH', `${address}/${id}`, { json });
    expect([status, body]).toMatchObject([200, json]);
  });

  it('accepts 50 events according to the documents', () => {
    const document = audience === '/admin' ? client.adminDocument : client.accountDocument;
    const schemas = document.components?.schemas as Record<string, { properties?: Record<string, object> }>;
    const ordered = audience === '/admin' ? 'NewWebhookEndpoint' : 'NewOwnWebhookEndpoint';
    for (const name of [ordered, 'WebhookEndpointChanges'])
      expect(schemas[name]?.properties?.events).toMatchObject({ minItems: 1, maxItems: 50 });
  });

  it('receives only events that the creating key may read', async () => {
    const service = await open();
    const scope = audience.slice(1);
    const { key } = await service.issueKey({ scopes: [scope] });
    const json = orderAt(service, audience);
    const refused = await service.request('POST', address, { key, json });
    expect(outcome(refused)).toBe('403 event_scope_not_held');
    expect(refused.headers.get('www-authenticate')).toContain('scope="pets:read"');
    const quota = orderAt(service, audience, { events: ['quota.threshold'] });
    const { body } = await service.request('POST', address, { key, json: quota });
    const change = (changes: object, id = body.id) =>
      service.request('PATCH', `${address}/${id}`, { key, json: changes });
    expect(outcome(await change({ events: ['pets.created'] }))).toBe('403 event_scope_not_held');
    // The key may keep events to which another key subscribed the endpoint, but may not redirect them.
    const { id } = await make(service, audience);
    const rotated = (by: string, of = id) =>
      service.request('POST', `${address}/${of}/rotate-secret`, { key: by, json: {} });
    expect(outcome(await rotated(key))).toBe('403 event_scope_not_held');
    expect((await service.request('GET', `${address}/${id}`)).body.previousSecretUntil).toBeNull();
    expect([outcome(await rotated(service.key)), outcome(await rotated(key, body.id))]).toEqual([200, 200]);
    expect(outcome(await change({ label: 'Shop', events: ['pets.created', 'quota.threshold'] }, id))).toBe(
      200,
    );
    expect(outcome(await change({ url: 'https://other.example.com/' }, id))).toBe('403 event_scope_not_held');
    // Unsubscribing from the event in the same request does not help, because waiting and earlier messages would be sent there as well.
    const moved = { url: 'https://other.example.com/', events: ['quota.threshold'] };
    expect(outcome(await change(moved, id))).toBe('403 event_scope_not_held');
    await logged(service, id, { state: 'waiting' });
    expect(outcome(await change({ events: ['quota.threshold'] }, id))).toBe(200);
    expect(outcome(await change(moved, id))).toBe('403 event_scope_not_held');
    await service.repository(WebhookDelivery).update({ endpointId: id }, { state: 'delivered' });
    expect(outcome(await change(moved, id))).toBe(200);
  });

  it('is changed, disabled and enabled; a change to the same values leaves no trace', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const change = async (json: object) =>
      (await service.request('PATCH', `${address}/${id}`, { json })).body;
    expect(
      await change({ url: 'https://shop.example.com/other', label: 'Shop', events: ['quota.threshold'] }),
    ).toMatchObject({
      url: 'https://shop.example.com/other',
      label: 'Shop',
      events: ['quota.threshold'],
    });
    await change({ label: 'Shop', events: ['quota.threshold'], enabled: true });
    const because = audience === '/admin' ? 'operator' : 'owner';
    expect(await change({ enabled: false })).toMatchObject({
      enabled: false,
      disabledAt: AT,
      disabledBecause: because,
    });
    await change({ enabled: false });
    await service.repository(WebhookEndpoint).update({ id }, { failures: 3, failingSince: AT, dueAt: 9n });
    const { body: disabled } = await service.request('GET', `${address}/${id}`);
    expect(disabled).toMatchObject({ enabled: false, failingSince: null });
    expect(await change({ enabled: true, label: null })).toMatchObject({
      enabled: true,
      disabledAt: null,
      disabledBecause: null,
      failingSince: null,
      label: null,
    });
    expect(await service.repository(WebhookEndpoint).findOneBy({ id })).toMatchObject({
      failures: 0,
      dueAt: 0n,
    });
    expect(outcome(await service.request('PATCH', `${address}/${id}`, { json: {} }))).toBe(
      '400 validation_failed',
    );
    const origin = 'https://shop.example.com';
    expect(await actions(service)).toEqual(
      (
        [
          ['created', { url: origin, events: ['pets.created'], label: null }],
          [
            'updated',
            {
              url: { from: origin, to: origin },
              label: { from: null, to: 'Shop' },
              events: { from: 'pets.created', to: 'quota.threshold' },
            },
          ],
          ['disabled', { because }],
          ['updated', { label: { from: 'Shop', to: null } }],
          ['enabled', { disabledAt: AT, because }],
        ] as const
      ).map(([done, details]) => ({
        action: `webhook_endpoint.${done}`,
        clientId: service.clientId,
        details: { endpointId: id, ...details },
      })),
    );
  });

  it('is deleted with its log, and then not found', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const { id: deliveryId } = await logged(service, id);
    const { status, body } = await service.request('DELETE', `${address}/${id}`);
    expect([status, body.id]).toEqual([200, id]);
    for (const [method, path, json] of onOne(deliveryId)) {
      const result = await service.request(method, `${address}/${id}${path}`, { json });
      expect([path, outcome(result)]).toEqual([path, '404 webhook_endpoint_not_found']);
    }
    for (const entity of [WebhookDelivery, WebhookSubscription])
      expect(await service.repository<{ endpointId: string }>(entity).countBy({ endpointId: id })).toBe(0);
    expect((await actions(service)).at(-1)).toMatchObject({ action: 'webhook_endpoint.deleted' });
  });

  it.each([
    ['', (id: string) => `${address}/${id}`],
    [', with its client,', (_: string, clientId: string) => `/admin/clients/${clientId}?force=true`],
  ])(
    'is deleted%s with a long log a few rows at a time, so that no writer waits for them all',
    async (_, pathOf) => {
      const service = await open();
      const { key } = await service.issueKey({ scopes: ['account', 'admin'] });
      const { id } = await make(service, audience);
      const { messageId } = await logged(service, id);
      const deliveries = service.repository(WebhookDelivery);
      const { id: _id, ...row } = await deliveries.findOneByOrFail({ messageId });
      for (let more = 0; more < 4; more += 1)
        await deliveries.insert(Array.from({ length: 500 }, () => ({ ...row })));
      const left = new Set<number>();
      const deleting = service.request('DELETE', pathOf(id, service.clientId), { key });
      for (;;) {
        const found = await Promise.race([deleting, deliveries.countBy({ endpointId: id })]);
        if (typeof found !== 'number') break;
        left.add(found);
      }
      expect((await deleting).status).toBe(200);
      expect(left.size).toBeGreaterThan(2);
    },
  );

  it('gets new secrets, each shown this once; every old one signs besides for its own grace, four at most', async () => {
    const service = await open();
    const { id, secret: first } = await make(service, audience);
    const rotate = (json: object) => service.request('POST', `${address}/${id}/rotate-secret`, { json });
    const { status, headers, body: second } = await rotate({});
    const until = '2026-11-21T12:00:10.250Z';
    expect([status, headers.get('cache-control'), second.previousSecretUntil]).toEqual([
      200,
      'no-store',
      until,
    ]);
    expect(second.secret).toMatch(SECRET);
    const { body: third } = await rotate({ grace: '1h' });
    expect(third.previousSecretUntil).toBe(until);
    const row = () => service.repository(WebhookEndpoint).findOneByOrFail({ id });
    expect(await row()).toMatchObject({
      secret: third.secret,
      previousSecrets: [
        { secret: first, until },
        { secret: second.secret, until: '2026-11-20T13:00:10.250Z' },
      ],
    });
    service.clock.advance(3_600_000);
    await rotate({ grace: '3h' });
    expect((await row()).previousSecrets.map(({ secret }) => secret)).toEqual([first, third.secret]);
    await rotate({ grace: '3h' });
    await rotate({ grace: '3h' });
    const before = await row();
    expect(outcome(await rotate({ grace: '3h' }))).toBe('409 webhook_secret_limit_reached');
    expect(await row()).toEqual(before);
    expect((await rotate({ grace: '0' })).body.previousSecretUntil).toBeNull();
    expect((await row()).previousSecrets).toEqual([]);
    const trail = JSON.stringify(await actions(service));
    expect(trail).toContain('webhook_endpoint.secret_rotated');
    for (const text of [first, second.secret, third.secret, 's3cret']) expect(trail).not.toContain(text);
  });

  it('shows until when an old secret signs, and nothing once none does', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    await service.request('POST', `${address}/${id}/rotate-secret`, { json: { grace: '1h' } });
    const shown = async () =>
      (await service.request('GET', `${address}/${id}`)).body.previousSecretUntil as string | null;
    expect(await shown()).toBe('2026-11-20T13:00:10.250Z');
    service.clock.advance(3_600_000);
    expect(await shown()).toBeNull();
  });

  it('sends a test, also without a subscription to it', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const { status, headers, body } = await service.request('POST', `${address}/${id}/test`);
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`${address}/${id}/deliveries/${body.id}`);
    const shown = await service.request('GET', `${address}/${id}/deliveries/${body.id}`);
    expect(shown.status).toBe(200);
    expect(JSON.parse(shown.body.payload)).toEqual({
      type: 'webhook.test',
      timestamp: AT,
      data: { endpointId: id },
    });
    await service.request('PATCH', `${address}/${id}`, { json: { enabled: false } });
    expect(outcome(await service.request('POST', `${address}/${id}/test`))).toBe(
      '409 webhook_endpoint_disabled',
    );
  });

  it('shows what was sent, latest first, by state and page, and sends it again with the same id', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const first = await logged(service, id);
    const failed = await logged(service, id, {
      state: 'failed',
      attempts: 10,
      status: null,
      error: 'No answer.',
    });
    const log = `${address}/${id}/deliveries`;
    const listed = await service.everyPage(`${log}?limit=1`);
    expect(listed.map((one) => String(one.id))).toEqual([failed.id, first.id]);
    expect(listed[0]).toEqual({
      id: Number(failed.id),
      endpointId: id,
      messageId: failed.messageId,
      event: 'pets.created',
      state: 'failed',
      attempts: 10,
      status: null,
      error: 'No answer.',
      happenedAt: AT,
      attemptedAt: AT,
      waitingBefore: null,
      nextAttemptAt: null,
    });
    expect(await service.everyPage(`${log}?state=delivered`)).toEqual([listed[1]]);
    expect(outcome(await service.request('GET', `${log}?state=lost`))).toBe('400 validation_failed');
    const one = await service.request('GET', `${log}/${failed.id}`);
    expect(one.body.payload).toContain('"data":{"id":9007199254740993}');
    const again = await service.request('POST', `${log}/${failed.id}/redeliver`);
    expect(again.status).toBe(201);
    expect(again.body).toMatchObject({
      messageId: failed.messageId,
      event: 'pets.created',
      attempts: expect.any(Number),
    });
    expect(again.body.id).toBeGreaterThan(Number(failed.id));
    expect(outcome(await service.request('GET', `${log}/999`))).toBe('404 webhook_delivery_not_found');
    expect(outcome(await service.request('POST', `${log}/999/redeliver`))).toBe(
      '404 webhook_delivery_not_found',
    );
    // A delivery of another endpoint is none of this one.
    const other = await make(service, audience);
    const elsewhere = `${address}/${other.id}/deliveries/${failed.id}`;
    expect(outcome(await service.request('GET', elsewhere))).toBe('404 webhook_delivery_not_found');
    await service.request('PATCH', `${address}/${id}`, { json: { enabled: false } });
    expect(outcome(await service.request('POST', `${log}/${failed.id}/redeliver`))).toBe(
      '409 webhook_endpoint_disabled',
    );
  });

  it('shows what was sent only to a key that may read it', async () => {
    const service = await open();
    const { id } = await make(service, audience);
    const sent = await logged(service, id);
    const deleted = await logged(service, id, {}, 'toys.sold');
    const { key } = await service.issueKey({ scopes: [audience.slice(1)] });
    const log = `${address}/${id}/deliveries`;
    expect((await service.request('GET', log, { key })).status).toBe(200);
    for (const [by, delivery] of [
      [key, sent],
      [service.key, deleted],
    ] as const)
      for (const [method, path] of [
        ['GET', `${log}/${delivery.id}`],
        ['POST', `${log}/${delivery.id}/redeliver`],
      ] as const)
        expect(outcome(await service.request(method, path, { key: by })), path).toBe(
          '403 event_scope_not_held',
        );
  });

  it('lists the events that endpoints can receive', async () => {
    const service = await open();
    const { body } = await service.request('GET', `${audience}/webhook-events`);
    expect(body).toContainEqual({
      name: 'pets.created',
      description: expect.any(String),
      scope: 'pets:read',
    });
    const names = body.map(({ name }: { name: string }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).not.toContain('webhook.test');
  });

  it('is at most one of 20, also when two are created at the same time', async () => {
    const service = await open();
    for (let made = 0; made < 19; made += 1) await make(service, '/admin');
    const json = orderAt(service, audience);
    const responses = await Promise.all([1, 2].map(() => service.request('POST', address, { json })));
    expect(responses.map(outcome)).toEqual(
      expect.arrayContaining([201, '409 webhook_endpoint_limit_reached']),
    );
  });
});

describe('endpoints of other clients', () => {
  it('are not found by self-service, and nothing happens to them', async () => {
    const service = await open();
    const { id } = await make(service);
    const { id: deliveryId } = await logged(service, id);
    const { key } = await service.issueKey({ plan: 'pro', scopes: ['account', 'pets:read'] });
    const before = await service.repository(WebhookEndpoint).findBy({ id });
    for (const [method, path, json] of onOne(deliveryId)) {
      const result = await service.request(method, `/account/webhooks/${id}${path}`, { key, json });
      expect([path, outcome(result)]).toEqual([path, '404 webhook_endpoint_not_found']);
      expect(result.body.message).toBe(`There is no webhook endpoint ${id}.`);
    }
    expect((await service.request('GET', '/account/webhooks', { key })).body).toEqual([]);
    expect(await service.repository(WebhookEndpoint).findBy({ id })).toEqual(before);
    expect(await service.repository(WebhookDelivery).countBy({ endpointId: id })).toBe(1);
  });

  it('are listed to operators, by client', async () => {
    const service = await open({ environment: {} });
    const mine = await make(service);
    const { clientId } = await service.issueKey({ plan: 'pro' });
    service.clock.advance(1_000);
    const other = await make(service, '/admin', { clientId });
    const ids = async (path: string) => (await service.everyPage(path)).map(({ id }) => id);
    expect(await ids('/admin/webhooks?limit=1')).toEqual([mine.id, other.id]);
    expect(await ids(`/admin/webhooks?client=${clientId}`)).toEqual([other.id]);
    expect(outcome(await service.request('GET', `/admin/webhooks?client=${NOBODY}`))).toBe(
      '404 client_not_found',
    );
    const json = orderAt(service, '/admin', { clientId: NOBODY });
    expect(outcome(await service.request('POST', '/admin/webhooks', { json }))).toBe('404 client_not_found');
  });

  it('go with their client', async () => {
    const service = await open();
    const { clientId } = await service.issueKey({ plan: 'pro' });
    const { id } = await make(service, '/admin', { clientId });
    await logged(service, id);
    expect((await service.request('DELETE', `/admin/clients/${clientId}`)).status).toBe(200);
    expect(await service.repository(WebhookEndpoint).countBy({ id })).toBe(0);
    for (const entity of [WebhookSubscription, WebhookDelivery])
      expect(await service.repository<{ endpointId: string }>(entity).countBy({ endpointId: id })).toBe(0);
  });
});

describe('what an operator disabled', () => {
  it('is enabled only by an operator', async () => {
    const service = await open();
    const { id } = await make(service);
    const turn = (audience: string, enabled: boolean) =>
      service.request('PATCH', `${audience}/webhooks/${id}`, { json: { enabled } });
    expect((await turn('/account', false)).body.disabledBecause).toBe('owner');
    expect((await turn('/admin', false)).body).toMatchObject({ disabledBecause: 'operator', disabledAt: AT });
    expect((await turn('/account', false)).body.disabledBecause).toBe('operator');
    expect(outcome(await turn('/account', true))).toBe('409 webhook_endpoint_locked');
    expect((await turn('/admin', true)).body.enabled).toBe(true);
  });

  it('is neither deleted, moved nor created again by its owner, who may change everything else', async () => {
    const service = await open();
    const { id } = await make(service);
    const { id: other } = await make(service, '/account', { url: 'https://shop.example.com/other' });
    const request = async (method: string, path: string, json?: object) =>
      outcome(await service.request(method, path, json ? { json } : {}));
    const [own, url] = [`/account/webhooks/${id}`, URL_OF_SHOP];
    expect(await request('PATCH', `/admin/webhooks/${id}`, { enabled: false })).toBe(200);
    for (const [method, path, json] of [
      ['DELETE', own, undefined],
      ['PATCH', own, { url: 'https://shop.example.com/new' }],
      ['PATCH', `/account/webhooks/${other}`, { url }],
      ['POST', '/account/webhooks', orderAt(service, '/account', { url })],
    ] as const)
      expect([method, await request(method, path, json)]).toEqual([method, '409 webhook_endpoint_locked']);
    expect(await request('PATCH', own, { label: 'Shop', url })).toBe(200);
    expect(await request('POST', `${own}/rotate-secret`, {})).toBe(200);
    expect(await request('PATCH', `/account/webhooks/${other}`, { label: 'Till' })).toBe(200);
    expect(await request('PATCH', `/admin/webhooks/${other}`, { url })).toBe(200);
    // Another client is not meant.
    const { key } = await service.issueKey({ plan: 'pro', scopes: HOLDER });
    const json = orderAt(service, '/account', { url });
    expect(outcome(await service.request('POST', '/account/webhooks', { key, json }))).toBe(201);
    expect(await request('DELETE', `/admin/webhooks/${id}`)).toBe(200);
  });
});

describe('self-service of webhooks and the quota', () => {
  it.each([
    ['account-webhooks', 'POST', '/test'],
    ['account-webhooks', 'POST', '/deliveries/:delivery/redeliver'],
    ['account-webhooks', 'GET', '/deliveries/:delivery'],
    ['account-webhooks', 'GET', ''],
    ['account-keys', 'GET', '/../../keys'],
    ['account-keys', 'GET', '/../../keys/:key'],
  ])('is bounded by %s for all keys of a client together: %s …%s', async (bound, method, path) => {
    const service = await open({ plan: 'free' });
    const { id } = await make(service);
    const { id: delivery } = await logged(service, id);
    const scopes = ['account', 'pets:read', 'pets:write'];
    const keys = await Promise.all([1, 2, 3, 4].map(() => service.issueKey({ scopes })));
    const [last = expect.unreachable(), ...others] = keys;
    const target = new URL(
      `/account/webhooks/${id}${path.replace(':delivery', delivery).replace(':key', last.id)}`,
      service.url,
    ).pathname;
    const statuses: number[] = [];
    for (const { key } of others)
      for (let sent = 0; sent < 30; sent += 1)
        statuses.push((await service.request(method, target, { key })).status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(60);
    const refused = await service.request(method, target, { key: last.key });
    expect(outcome(refused)).toBe('429 rate_limit_exceeded');
    expect(refused.body.message).toContain('Rate limit of 60 requests per minute for ');
    expect(refused.headers.get('ratelimit-policy')).toBe(`"${bound}-client";q=60;w=60`);
    expect(refused.headers.get('retry-after')).toBe('50');
    const { key } = last;
    // Leaked keys cannot keep another from ending what they made.
    expect(outcome(await service.request('DELETE', `/account/webhooks/${id}`, { key }))).toBe(200);
    const [{ id: leaked } = expect.unreachable()] = others;
    expect(outcome(await service.request('POST', `/account/keys/${leaked}/revoke`, { key }))).toBe(200);
    service.clock.advance(50_000);
    expect((await service.request('GET', '/account/keys', { key })).status).toBe(200);
  });

  it('counts only for its own limit, for each key', async () => {
    const service = await open({ plan: 'free' });
    const { headers } = await service.request('GET', '/account/webhooks');
    expect(headers.get('x-ratelimit-remaining')).toBe('60');
    for (let round = 1; round < 30; round += 1) await service.request('GET', '/account/webhook-events');
    expect(outcome(await service.request('GET', '/account/webhooks'))).toBe('429 rate_limit_exceeded');
    expect((await service.request('GET', '/account/keys')).status).toBe(200);
    const { key } = await service.issueKey({ scopes: ['account'] });
    expect((await service.request('GET', '/account/webhooks', { key })).status).toBe(200);
  });
});

describe('self-service of webhooks and changes of 24 hours', () => {
  it('is refused beyond 1,000 changes, but for deleting', async () => {
    const service = await open();
    const { id } = await make(service);
    const entries = service.repository(AuditEntry);
    const [{ id: _, ...values } = expect.unreachable()] = await entries.find({
      where: { action: 'webhook_endpoint.created', clientId: service.clientId },
    });
    await entries.save(
      Array.from({ length: 1_000 }, () => entries.create(values)),
      { chunk: 200 },
    );
    const change = async (method: string, path: string, json?: object) =>
      outcome(await service.request(method, `/account/webhooks${path}`, { json }));
    expect([
      await change('POST', '', orderAt(service, '/account')),
      await change('PATCH', `/${id}`, { label: 'Till' }),
      await change('POST', `/${id}/rotate-secret`, {}),
      await change('DELETE', `/${id}`),
    ]).toEqual([...Array.from({ length: 3 }, () => '409 key_change_limit_reached'), 200]);
  });
});

describe('a receiver that was ordered over HTTP', () => {
  it('gets pending messages immediately at another URL when the previous one returns 410 to a later one', async () => {
    const moved = await WebhookReceiver.start();
    onTestFinished(() => moved.stop());
    const receiver = await WebhookReceiver.start((response) => response.writeHead(500).end());
    onTestFinished(() => receiver.stop());
    const service = await open({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
    const deliver = () => service.app.get(WebhookDispatcher).deliver();
    const { id } = await make(service, '/account', { url: receiver.url });
    const path = `/account/webhooks/${id}`;
    await service.request('POST', '/v1/pets', { json: { name: 'A', categoryId: 1 } });
    await deliver();
    expect((await service.request('GET', path)).body).toMatchObject({ waiting: 1, failingSince: AT });
    service.clock.advance(6_000);
    receiver.respond = async (response) => {
      await service.request('PATCH', path, { json: { url: moved.url } });
      response.writeHead(410).end();
    };
    await deliver();
    expect((await service.request('GET', path)).body).toMatchObject({ enabled: true, failingSince: null });
    await deliver();
    expect(moved.names).toEqual(['A']);
  });
});
