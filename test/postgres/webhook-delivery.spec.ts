import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Webhook } from 'standardwebhooks';
import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { JsonReader } from '../../src/database/database.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { Pet } from '../../src/pets/pet.entity.js';
import { PETS_CREATED } from '../../src/pets/pets.events.js';
import { PetsService } from '../../src/pets/pets.service.js';
import { RETRY_DELAYS } from '../../src/webhooks/retry-schedule.js';
import { WebhookDeliveries } from '../../src/webhooks/webhook-deliveries.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { WebhookMessage } from '../../src/webhooks/webhook-message.entity.js';
import { WebhookSettlements } from '../../src/webhooks/webhook-settlements.js';
import { newWebhookSecret } from '../../src/webhooks/webhook-signature.js';
import { itOnSqlite, planOf, refuseWrites } from '../support/databases.js';
import { type Answering } from '../support/webhook-receiver.js';
import { answers, flood, open, receive } from '../support/webhook-service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('a message', () => {
  it('is verified by the library of a stranger, and has the animal as the API answers it', async () => {
    const { post, deliver, endpointAt } = await open({ at: new Date().toISOString() });
    const receiver = await receive();
    const { secret } = await endpointAt(`${receiver.url}/hooks?token=1`);
    const { text } = await post('Biscuit');
    await deliver();
    const [received] = receiver.received;
    expect(received?.path).toBe('/hooks?token=1');
    const headers = received?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(received?.text ?? '', headers)).toEqual({
      type: 'pets.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      data: JSON.parse(text) as object,
    });
    expect(received?.text).toContain(`"data":${text}}`);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{32}$/) as string,
      'user-agent': expect.stringMatching(/^petstore-webhooks\//) as string,
    });
    expect(() => new Webhook(newWebhookSecret()).verify(received?.text ?? '', headers)).toThrow('signature');
  });

  it('has every int64 exactly', async () => {
    const { service, deliver, endpointAt } = await open();
    const receiver = await receive();
    await endpointAt(receiver.url);
    await service.request('POST', '/v1/pets', { json: '{"name":"Big","categoryId":9223372036854775807}' });
    await deliver();
    expect(receiver.received[0]?.text).toContain('"categoryId":9223372036854775807');
  });

  it('is signed with the previous secret besides, until that ends', async () => {
    const { post, deliver, endpointAt, clock } = await open({ at: new Date().toISOString() });
    const receiver = await receive();
    const previousSecret = newWebhookSecret();
    const until = new Date(clock.now() + 1_000).toISOString();
    const { secret } = await endpointAt(receiver.url, {
      previousSecrets: [{ secret: previousSecret, until }],
    });
    await post('Both');
    await deliver();
    clock.advance(1_000);
    await post('New');
    await deliver();
    const verified = (at: number, by: string) => {
      const { text = '', headers = {} } = receiver.received[at] ?? {};
      try {
        return new Webhook(by).verify(text, headers as Record<string, string>) !== undefined;
      } catch {
        return false;
      }
    };
    expect([verified(0, secret), verified(0, previousSecret)]).toEqual([true, true]);
    expect([verified(1, secret), verified(1, previousSecret)]).toEqual([true, false]);
    expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  });

  it('is written in the transaction of its animal: by key, in bulk, and not when that is rolled back', async () => {
    const { service, post, deliver, endpointAt, manager } = await open();
    const receiver = await receive();
    await endpointAt(receiver.url);
    await post('Once', { 'Idempotency-Key': 'a' });
    expect((await post('Once', { 'Idempotency-Key': 'a' })).headers.get('idempotent-replayed')).toBe('true');
    const pets = service.app.get(PetsService);
    const newPet = (name: string) => ({ name, categoryId: 1n, status: 'available' as const });
    const bulk = (fails: boolean) =>
      service.app.get(DataSource).transaction(async () => {
        for (const name of ['A', 'B']) await pets.create(newPet(name));
        if (fails) throw new Error('no');
      });
    await expect(bulk(true)).rejects.toThrow('no');
    await bulk(false);
    await deliver();
    expect(receiver.names).toEqual(['Once', 'A', 'B']);
    expect(await manager.countBy(Pet, {})).toBe(3);
  });

  it('is not written while nobody subscribes, and is for who does before the request begins', async () => {
    const { post, deliver, endpointAt, manager, clock } = await open();
    const receiver = await receive();
    await post('Nobody');
    await endpointAt(receiver.url, {}, ['webhook_endpoint.disabled']);
    await post('Other');
    const { id } = await endpointAt(receiver.url);
    await post('Told');
    const disabledAt = new Date(clock.now()).toISOString();
    await manager.update(WebhookEndpoint, { id }, { disabledAt, disabledBecause: 'owner' });
    await post('Disabled');
    await manager.update(WebhookEndpoint, { id }, { disabledAt: null, disabledBecause: null });
    await post('Again');
    await deliver();
    expect(receiver.names).toEqual(['Told', 'Again']);
    expect(await manager.count(WebhookMessage)).toBe(2);
  });

  it('of one id is written once, and for one client or endpoint alone where that is asked', async () => {
    const { service, messages, deliver, endpointAt, deliveries } = await open();
    const [first, second] = [await receive(), await receive()];
    await endpointAt(first.url);
    const other = await endpointAt(second.url, {}, []);
    const data = { id: 1n, name: 'X', categoryId: 1n, status: 'sold' as const };
    await Promise.all([1, 2, 3].map(() => messages.send(PETS_CREATED, data, { id: 'same' })));
    await messages.send(PETS_CREATED, data, { id: 'other' });
    await messages.send(PETS_CREATED, data, { endpointId: other.id });
    await messages.send(PETS_CREATED, data, { clientId: service.clientId });
    await messages.send(PETS_CREATED, data, { clientId: 'another' });
    await deliver();
    expect([new Set(first.ids).size, first.ids.length, second.ids.length]).toEqual([3, 3, 1]);
    expect((await deliveries()).map(({ state, attempts, status }) => [state, attempts, status])).toEqual(
      Array.from({ length: 4 }, () => ['delivered', 1, 204]),
    );
  });

  it('is sent soon after the commit, without being asked for', async () => {
    const { post, endpointAt } = await open();
    const receiver = await receive();
    await endpointAt(receiver.url);
    await post('Soon');
    await expect.poll(() => receiver.names).toEqual(['Soon']);
  });
});

describe('the search for what waits', () => {
  itOnSqlite('asks the database nothing while nothing is committed', async () => {
    const { service, post, deliver, endpointAt } = await open();
    const receiver = await receive();
    await endpointAt(receiver.url);
    await post('First');
    await deliver();
    await deliver();
    const reads = vi.spyOn(service.app.get(JsonReader), 'first');
    await deliver();
    expect(reads).not.toHaveBeenCalled();
    await post('Second');
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });
});

describe('an endpoint that fails', () => {
  it('is tried again by the schedule, in order, then disabled; the others of its client are told', async () => {
    const { service, post, deliver, endpointAt, endpoint, deliveries, clock, manager } = await open();
    const [failing, healthy] = [await receive(answers(500)), await receive()];
    const { id } = await endpointAt(failing.url);
    await endpointAt(healthy.url, {}, ['pets.created', 'webhook_endpoint.disabled']);
    await post('First');
    await post('Second');
    await deliver();
    expect(healthy.names).toEqual(['First', 'Second']);
    for (const [at, delay] of RETRY_DELAYS.entries()) {
      expect(failing.received).toHaveLength(at + 1);
      clock.advance(delay - 1);
      await deliver();
      expect(failing.received).toHaveLength(at + 1);
      expect(await endpoint(id)).toMatchObject({ failures: at + 1, disabledAt: null });
      clock.advance(delay * 0.1 + 2);
      await deliver();
    }
    expect([failing.received.length, new Set(failing.ids).size]).toEqual([10, 1]);
    const disabled = await endpoint(id);
    expect(disabled).toMatchObject({ disabledBecause: 'failing', failingSince: '2026-11-20T12:00:00.000Z' });
    expect(clock.now() - Date.parse('2026-11-20T12:00:00Z')).toBeGreaterThan(3 * DAY);
    const mine = (await deliveries()).filter(({ endpointId }) => endpointId === id);
    expect(mine.map(({ state, attempts, status: code }) => [state, attempts, code])).toEqual([
      ['failed', 10, 500],
      ['waiting', 0, null],
    ]);
    expect(healthy.received.at(-1)?.body).toMatchObject({
      type: 'webhook_endpoint.disabled',
      data: { id, because: 'failing', disabledAt: disabled.disabledAt },
    });
    expect(await manager.findBy(AuditEntry, { action: 'webhook_endpoint.disabled' })).toMatchObject([
      { actor: 'service', clientId: service.clientId, details: { endpointId: id, because: 'failing' } },
    ]);
    expect(await service.metric('petstore_webhook_attempts_total', { outcome: 'failed' })).toBe(10);
    expect(await service.metric('petstore_webhook_disabled_endpoints', { because: 'failing' })).toBe(1);
    // It does not wait for an endpoint that gets nothing.
    expect(await service.metric('petstore_webhook_waiting_deliveries')).toBe(0);
  });

  it('gets the rest in order when it answers again', async () => {
    const { post, deliver, endpointAt, endpoint, clock, service } = await open();
    const receiver = await receive(answers(503));
    const { id } = await endpointAt(receiver.url);
    for (const name of ['A', 'B', 'C']) await post(name);
    await deliver();
    clock.advance(3_000);
    expect(await service.metric('petstore_webhook_oldest_waiting_seconds')).toBe(3);
    expect(await service.metric('petstore_webhook_waiting_deliveries')).toBe(3);
    receiver.answer = answers(200);
    clock.advance(3_000);
    await deliver();
    expect(receiver.names).toEqual(['A', 'A', 'B', 'C']);
    expect(await endpoint(id)).toMatchObject({ failures: 0, failingSince: null, dueAt: 0n });
  });

  it('is tried again when it was to be, although the clock was put back and another process goes on', async () => {
    const { post, deliver, endpointAt, endpoint, clock, manager } = await open();
    const receiver = await receive(answers(500));
    const { id } = await endpointAt(receiver.url);
    await post('X');
    await deliver();
    const { dueAt } = await endpoint(id);
    // As another process finds it, whose clock is eleven days behind.
    await manager.update(WebhookEndpoint, { id }, { dueAt: dueAt + BigInt(11 * DAY) });
    await deliver();
    clock.advance(4_999);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    clock.advance(501);
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  it('is disabled at once when it answers 410', async () => {
    const { post, deliver, endpointAt, endpoint, deliveries } = await open();
    const receiver = await receive(answers(410));
    const { id } = await endpointAt(receiver.url);
    await post('Gone');
    await deliver();
    expect(await endpoint(id)).toMatchObject({ disabledBecause: 'gone', failures: 0 });
    expect(await deliveries()).toMatchObject([{ state: 'failed', attempts: 1, status: 410 }]);
  });

  it.each([
    ['503 and seconds', 503, '600', 600_000],
    ['429 and an instant', 429, 'Fri, 20 Nov 2026 13:00:00 GMT', HOUR],
    ['429 and a year', 429, '31536000', DAY],
    ['500, which is not asked to wait', 500, '600', 5_000],
    ['503 and less than the schedule', 503, '1', 5_000],
    ['503 and nonsense', 503, 'soon', 5_000],
    ['503 and more seconds than there are instants', 503, '9'.repeat(30), DAY],
  ])('waits as long as Retry-After asks with %s', async (_, code, after, wait) => {
    const { post, deliver, endpointAt, clock } = await open();
    const receiver = await receive(answers(code, { 'Retry-After': after }));
    await endpointAt(receiver.url);
    await post('Later');
    await deliver();
    clock.advance(wait - 1);
    await deliver();
    expect(receiver.received).toHaveLength(1);
    clock.advance(wait * 0.1 + 2);
    await deliver();
    expect(receiver.received).toHaveLength(2);
  });

  it.each([
    ['a redirect', (response) => response.writeHead(302, { Location: '/elsewhere' }).end(), 302, 'redirects'],
    ['no answer', (response) => response.destroy(), null, 'closed without an answer'],
    [
      'another protocol',
      (response) =>
        response.socket?.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
        ),
      101,
      'It answered 101',
    ],
    ['no HTTP', (response) => response.socket?.end('220 mail.example ESMTP\r\n'), null, 'HPE_'],
  ] satisfies [string, Answering, number | null, string][])(
    'has failed with %s',
    async (_, answer, code, why) => {
      const { post, deliver, endpointAt, deliveries } = await open();
      const receiver = await receive(answer);
      await endpointAt(receiver.url);
      await post('X');
      await deliver();
      expect(receiver.received.map(({ path }) => path)).toEqual(['/']);
      const [delivery] = await deliveries();
      expect(delivery).toMatchObject({ state: 'waiting', attempts: 1, status: code });
      expect(delivery?.error).toContain(why);
    },
  );

  it('has got what it answers 200 to, whether the body of the answer ends or not', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const receiver = await receive((response) => response.writeHead(200).write('{"ok":'));
    await endpointAt(receiver.url);
    await post('First');
    await post('Second');
    await deliver();
    expect(receiver.names).toEqual(['First', 'Second']);
    expect((await deliveries()).map(({ state, status }) => [state, status])).toEqual([
      ['delivered', 200],
      ['delivered', 200],
    ]);
  });

  it('is called at an address that was stored in another form than the normal one', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const receiver = await receive();
    await endpointAt(`${receiver.url.replace('http', 'HTTP')}/a/../<b>`);
    await post('X');
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'delivered' }]);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/%3Cb%3E']);
  });

  const TOO_MUCH = 'The host sends more than the answer to a message needs.';

  it.each([
    ['102', flood('HTTP/1.1 102 Processing\r\n\r\n', 4_000), TOO_MUCH],
    ['100 in small packets', flood('HTTP/1.1 100 Continue\r\n\r\n', 1), TOO_MUCH],
    [
      '103 with fields',
      flood(`HTTP/1.1 103 Early Hints\r\nLink: <${'a'.repeat(9_000)}>\r\n\r\n`, 1),
      TOO_MUCH,
    ],
    ['line breaks before the head', flood('\r\n', 40_000), TOO_MUCH],
    ['a head, byte by byte', flood('a', 1, 'HTTP/1.1 200 OK\r\na: '), TOO_MUCH],
    [
      'fields',
      flood('a: b\r\n', 10_000, 'HTTP/1.1 200 OK\r\n'),
      'The connection failed: HPE_HEADER_OVERFLOW.',
    ],
  ])('has failed when %s arrives without end, after some kilobytes', async (_, answer, error) => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const receiver = await receive(answer);
    await endpointAt(receiver.url);
    await post('X');
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'waiting', attempts: 1, status: null, error }]);
  });

  it('takes a few interim responses before the answer', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const receiver = await receive((response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.writeHead(204).end());
    });
    await endpointAt(receiver.url);
    await post('X');
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'delivered', status: 204 }]);
  });

  it('has its connection closed when something arrives over it after the answer', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const sockets: (Socket | null)[] = [];
    const receiver = await receive((response) => {
      sockets.push(response.socket);
      response.writeHead(204).end();
    });
    await endpointAt(receiver.url);
    await post('X');
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'delivered', status: 204 }]);
    const [socket = null] = sockets;
    // The receiver itself must not close it.
    socket?.setTimeout(0);
    flood('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 4_000)({ socket });
    await expect.poll(() => socket?.destroyed).toBe(true);
    expect(socket?.bytesWritten).toBeLessThan(5e7);
  });

  it('gets hundreds of messages over connections that are replaced now and then', async () => {
    const { service, deliver, endpointAt, deliveries } = await open();
    const receiver = await receive((response) => response.writeHead(200).end('x'.repeat(1_000)));
    await endpointAt(receiver.url);
    await service.app.get(DataSource).transaction(async () => {
      const pets = service.app.get(PetsService);
      for (let n = 0; n < 300; n += 1)
        await pets.create({ name: `N${n}`, categoryId: 1n, status: 'available' });
    });
    await deliver();
    expect(new Set((await deliveries()).map(({ state, attempts }) => `${state} ${attempts}`))).toEqual(
      new Set(['delivered 1']),
    );
    expect(receiver.names).toHaveLength(300);
    expect(receiver.connections).toBeLessThan(30);
  });

  it('has its answer read for some kilobytes alone', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    let written = 0;
    const endless = new Readable({
      read() {
        written += 65_536;
        this.push(Buffer.alloc(65_536));
      },
    });
    const receiver = await receive((response) => pipeline(endless, response).catch(() => undefined));
    await endpointAt(receiver.url);
    await post('X');
    await deliver();
    expect(await deliveries()).toMatchObject([{ state: 'delivered', status: 200 }]);
    expect(written).toBeLessThan(5e7);
  });
});

describe('others', () => {
  it('are not delayed by hundreds of receivers that hang, nor a stop', async () => {
    const { service, post, endpointAt } = await open({ environment: { SHUTDOWN_TIMEOUT_MS: '100' } });
    const hanging = await receive(() => undefined);
    const healthy = await receive();
    for (let n = 0; n < 300; n += 1) await endpointAt(`${hanging.url}/${n}`);
    for (let n = 0; n < 20; n += 1) await endpointAt(`${healthy.url}/${n}`);
    await post('First');
    await expect.poll(() => healthy.received.length, { interval: 10 }).toBe(20);
    // 320 attempts share 200 lanes: behind those that hang, the others would have waited until 120 were given up, after 15 s each.
    expect(await service.metric('petstore_webhook_attempts_total', { outcome: 'failed' })).toBeLessThan(100);
    await post('Second');
    await expect.poll(() => healthy.received.length, { interval: 10 }).toBe(40);
    await service.app.get(WebhookDispatcher).stop();
    expect(await service.metric('petstore_webhook_attempts_total', { outcome: 'cut' })).toBeGreaterThan(100);
    expect(hanging.received.length).toBeGreaterThan(100);
  });

  it('go on while one is behind with thousands', async () => {
    const { service, post, deliver, endpointAt } = await open();
    const [busy, idle] = [await receive(), await receive()];
    await endpointAt(busy.url);
    await service.app.get(DataSource).transaction(async () => {
      const pets = service.app.get(PetsService);
      for (let n = 0; n < 500; n += 1)
        await pets.create({ name: `N${n}`, categoryId: 1n, status: 'available' });
    });
    await endpointAt(idle.url);
    await post('Last');
    await deliver();
    expect(busy.names).toEqual([...Array.from({ length: 500 }, (_, n) => `N${n}`), 'Last']);
    expect(idle.names).toEqual(['Last']);
  });
});

it('sends nothing to a suspended client until it is resumed', async () => {
  const { service, messages, deliver, endpointAt } = await open();
  const clients = service.app.get(ClientsService);
  const { id: clientId } = await clients.create({ name: 'S', plan: 'free' }, SERVICE_ITSELF);
  const receiver = await receive();
  await endpointAt(receiver.url, { clientId });
  await clients.suspend(clientId, {}, SERVICE_ITSELF);
  await messages.send(PETS_CREATED, { id: 1n, name: 'Kept', categoryId: 1n, status: 'sold' });
  await deliver();
  expect(receiver.names).toEqual([]);
  await clients.resume(clientId, SERVICE_ITSELF);
  await deliver();
  expect(receiver.names).toEqual(['Kept']);
});

it.each([
  ['back by a year', -365 * DAY],
  ['back by a minute', -60_000],
  ['forward by a year', 365 * DAY],
])('a clock that is set %s neither stops nor hastens what is to be tried again', async (_, step) => {
  const { post, deliver, endpointAt, clock } = await open();
  const receiver = await receive(answers(500));
  await endpointAt(receiver.url);
  await post('X');
  await deliver();
  clock.advance(6_000);
  await deliver();
  expect(receiver.received).toHaveLength(2);
  clock.step(step);
  await deliver();
  clock.advance(299_000);
  await deliver();
  expect(receiver.received).toHaveLength(2);
  clock.advance(32_000);
  await deliver();
  expect(receiver.received).toHaveLength(3);
});

it('deletes messages and their deliveries after WEBHOOK_RETENTION_DAYS', async () => {
  const { service, post, deliver, endpointAt, manager, clock } = await open({
    environment: { WEBHOOK_RETENTION_DAYS: '7' },
  });
  const receiver = await receive();
  await endpointAt(receiver.url);
  await post('Old');
  await deliver();
  clock.advance(7 * DAY - 1_000);
  await post('New');
  await deliver();
  clock.advance(2_000);
  await service.app.get(Sweeper).sweep();
  expect([await manager.count(WebhookMessage), await manager.count(WebhookDelivery)]).toEqual([1, 1]);
});

it('reads what waits from an index, however much was delivered', async () => {
  const { service, manager } = await open();
  const dataSource = service.app.get(DataSource);
  const deliveries = service.app.get(WebhookDeliveries);
  const asked = vi.spyOn(dataSource, 'query');
  await deliveries.waitingEndpoints();
  await deliveries.backlog();
  const statements = asked.mock.calls.map(([sql]): [string, unknown[]] => [sql, []]);
  asked.mockRestore();
  const first = deliveries.firstOf('x').getQueryAndParameters() as [string, unknown[]];
  for (const [sql, parameters] of [...statements, first]) {
    const plan = await planOf(manager.connection, sql, parameters);
    const reads = plan.filter((step) => /(?:scan|search|on).*(?:webhook_deliveries|delivery)/i.test(step));
    expect(reads).not.toEqual([]);
    for (const step of reads.filter((one) => !/Cond:|Bitmap Heap/.test(one)))
      expect(step).toContain('webhook_deliveries_waiting');
  }
});

it('is not sent again and again while the database refuses to note that it was', async () => {
  const { service, manager, post, deliver, endpointAt, deliveries } = await open({ database: 'file' });
  const receiver = await receive();
  await endpointAt(receiver.url);
  // It has the lease from now on.
  await post('First');
  await deliver();
  const settled = vi.spyOn(service.app.get(WebhookSettlements), 'settle');
  receiver.answer = async (response) => {
    await refuseWrites(manager.connection, true);
    response.writeHead(204).end();
  };
  await post('Second');
  await expect.poll(() => settled.mock.calls.length).toBeGreaterThanOrEqual(3);
  await refuseWrites(manager.connection, false);
  await deliver();
  expect(receiver.names).toEqual(['First', 'Second']);
  expect(await deliveries()).toMatchObject([{ state: 'delivered' }, { state: 'delivered', attempts: 1 }]);
});

it('is sent once more at once when the receiver has just closed the connection that was kept open', async () => {
  const { post, deliver, endpointAt, deliveries } = await open();
  const receiver = await receive();
  await endpointAt(receiver.url);
  await post('First');
  await deliver();
  receiver.answer = (response) => {
    receiver.answer = answers(204);
    response.socket?.destroy();
  };
  await post('Second');
  await deliver();
  expect(receiver.names).toEqual(['First', 'Second', 'Second']);
  expect(await deliveries()).toMatchObject([
    { attempts: 1 },
    { state: 'delivered', attempts: 1, error: null },
  ]);
});
