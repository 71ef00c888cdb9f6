import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { BackgroundLoops } from '../../src/events/jobs/background-loops.js';
import { AuditEntry } from '../../src/auth/audit/audit-entry.entity.js';
import { RETRY_DELAYS } from '../../src/webhooks/retry-schedule.js';
import { type Responder } from '../support/webhook-receiver.js';
import { respondWith, flood, open, opened, receive } from '../support/webhook-service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const { service, post, deliver, endpointAt, endpoint, deliveries, clock, manager, clear } = await opened();
afterAll(() => service.close());
beforeEach(() => clear());

/** A receiver with these responses, after a message was sent to it. */
async function sentTo(respond?: Responder) {
  const receiver = await receive(respond);
  await endpointAt(receiver.url);
  await post('X');
  await deliver();
  return receiver;
}

it('an endpoint that fails is retried by the schedule, in order, then disabled; others of its client get an event', async () => {
  const [failing, healthy] = [await receive(respondWith(500)), await receive()];
  const { id } = await endpointAt(failing.url);
  await endpointAt(healthy.url, {}, ['pets.created', 'webhook_endpoint.disabled']);
  const startedAt = new Date(clock.now()).toISOString();
  const failed = () => service.metric('petstore_webhook_attempts_total', { outcome: 'failed' });
  const before = await failed();
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
  expect(disabled).toMatchObject({
    disabledBecause: 'failing',
    failingSince: startedAt,
    lastError: 'It responded with 500.',
  });
  expect(clock.now() - Date.parse(startedAt)).toBeGreaterThan(3 * DAY);
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
  expect((await failed()) - before).toBe(10);
  expect(await service.metric('petstore_webhook_disabled_endpoints', { because: 'failing' })).toBe(1);
  // It does not wait for an endpoint that gets nothing.
  expect(await service.metric('petstore_webhook_waiting_deliveries')).toBe(0);
});

it.each([
  ['503 and seconds', 503, '600', 600_000],
  ['429 and an instant', 429, 'in an hour', HOUR],
  ['429 and a year', 429, '31536000', DAY],
  ['500, which is not asked to wait', 500, '600', 5_000],
  ['503 and less than the schedule', 503, '1', 5_000],
  ['503 and nonsense', 503, 'soon', 5_000],
  ['503 and more seconds than there are instants', 503, '9'.repeat(30), DAY],
])('an endpoint waits as long as Retry-After says with %s', async (_, code, after, wait) => {
  const retryAfter = after === 'in an hour' ? new Date(clock.now() + HOUR).toUTCString() : after;
  const receiver = await sentTo(respondWith(code, { 'Retry-After': retryAfter }));
  clock.advance(wait - 1_000);
  await deliver();
  expect(receiver.received).toHaveLength(1);
  clock.advance(wait * 0.1 + 1_001);
  await deliver();
  expect(receiver.received).toHaveLength(2);
});

it.each([
  ['back by a year', -365 * DAY, 0],
  ['back by a minute', -60_000, 391_000],
  ['forward by a year', 365 * DAY, 0],
])('a clock that is set %s does not stop what is to be tried again', async (_, step, wait) => {
  const receiver = await sentTo(respondWith(500));
  clock.advance(6_000);
  await deliver();
  expect(receiver.received).toHaveLength(2);
  clock.step(step);
  clock.advance(wait);
  // Once, and then by the schedule: after half an hour.
  for (let runs = 0; runs < 3; runs += 1) await deliver();
  expect(receiver.received).toHaveLength(3);
  clock.advance(30 * 60_000 - 1);
  await deliver();
  expect(receiver.received).toHaveLength(3);
  clock.advance(180_002);
  await deliver();
  expect(receiver.received).toHaveLength(4);
});

const TOO_MUCH = 'The host sent more data than expected for a response to a message.';

it.each([
  ['a redirect', (response) => response.writeHead(302, { Location: '/elsewhere' }).end(), 302, 'redirects'],
  ['no answer', (response) => response.destroy(), null, 'closed without a response'],
  [
    'another protocol',
    (response) =>
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    101,
    'It responded with 101',
  ],
  [
    'no HTTP',
    (response) => response.socket?.end('220 mail.example ESMTP\r\n'),
    null,
    'an invalid HTTP/1.1 response',
  ],
  ['102 without end', flood('HTTP/1.1 102 Processing\r\n\r\n', 4_000), null, TOO_MUCH],
  ['100 in small packets without end', flood('HTTP/1.1 100 Continue\r\n\r\n', 1), null, TOO_MUCH],
  [
    '103 with fields without end',
    flood(`HTTP/1.1 103 Early Hints\r\nLink: <${'a'.repeat(9_000)}>\r\n\r\n`, 1),
    null,
    TOO_MUCH,
  ],
  ['line breaks before the head without end', flood('\r\n', 40_000), null, TOO_MUCH],
  ['a head, byte by byte', flood('a', 1, 'HTTP/1.1 200 OK\r\na: '), null, TOO_MUCH],
  ['fields without end', flood('a: b\r\n', 10_000, 'HTTP/1.1 200 OK\r\n'), null, TOO_MUCH],
] satisfies [string, Responder, number | null, string][])(
  'a delivery has failed with %s',
  async (_, respond, status, why) => {
    const receiver = await sentTo(respond);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/']);
    const error = expect.stringContaining(why) as string;
    expect(await deliveries()).toMatchObject([{ state: 'waiting', attempts: 1, status, error }]);
  },
);

it('a delivery succeeds with a 200 whether its body ends or not, and with a few interim responses before it', async () => {
  const open200 = await receive((response) => response.writeHead(200).write('{"ok":'));
  const interim = await receive((response) => {
    response.writeContinue();
    response.writeProcessing();
    response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.writeHead(204).end());
  });
  // Stored in another form than the normal one.
  await endpointAt(`${open200.url.replace('http', 'HTTP')}/a/../<b>`);
  await endpointAt(interim.url);
  await post('First');
  await post('Second');
  await deliver();
  for (const { names } of [open200, interim]) expect(names).toEqual(['First', 'Second']);
  expect(open200.received[0]?.path).toBe('/%3Cb%3E');
  const states = (await deliveries()).map(({ state, status }) => `${state} ${status}`);
  expect(states.toSorted()).toEqual(['delivered 200', 'delivered 200', 'delivered 204', 'delivered 204']);
});

it('a connection is closed when data arrives after the response', async () => {
  let socket: Socket | null = null;
  await sentTo((response) => {
    ({ socket } = response);
    response.writeHead(204).end();
  });
  expect(await deliveries()).toMatchObject([{ state: 'delivered', status: 204 }]);
  const connection = socket as Socket | null;
  // The receiver itself must not close it.
  connection?.setTimeout(0);
  flood('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 4_000)({ socket: connection });
  await expect.poll(() => connection?.destroyed).toBe(true);
  expect(connection?.bytesWritten).toBeLessThan(5e7);
});

it('only some kilobytes of a response are read', async () => {
  let written = 0;
  const endless = new Readable({
    read() {
      written += 65_536;
      this.push(Buffer.alloc(65_536));
    },
  });
  await sentTo((response) => pipeline(endless, response).catch(() => undefined));
  expect(await deliveries()).toMatchObject([{ state: 'delivered', status: 200 }]);
  expect(written).toBeLessThan(5e7);
});

it('a message is sent again immediately when the receiver has just closed the idle connection', async () => {
  const receiver = await sentTo();
  receiver.respond = (response) => {
    receiver.respond = respondWith(204);
    response.socket?.destroy();
  };
  await post('Second');
  await deliver();
  expect(receiver.names).toEqual(['X', 'Second', 'Second']);
  expect(await deliveries()).toMatchObject([
    { attempts: 1 },
    { state: 'delivered', attempts: 1, error: null },
  ]);
});

it('others are not delayed by hundreds of receivers that hang, nor a stop', async () => {
  const own = await open({ environment: { SHUTDOWN_TIMEOUT_MS: '100' } });
  const [hanging, healthy] = [await receive(() => undefined), await receive()];
  const attempts = (outcome: string) => own.service.metric('petstore_webhook_attempts_total', { outcome });
  for (let n = 0; n < 300; n += 1) await own.endpointAt(`${hanging.url}/${n}`);
  for (let n = 0; n < 20; n += 1) await own.endpointAt(`${healthy.url}/${n}`);
  // No attempt reaches its time limit, even on a slow machine. If hanging attempts delayed others, these would wait forever.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const [at, name] of ['First', 'Second'].entries()) {
    await own.post(name);
    await expect.poll(() => healthy.received.length, { interval: 10 }).toBe(20 * (at + 1));
  }
  vi.useRealTimers();
  expect(await attempts('failed')).toBe(0);
  await own.service.app.get(BackgroundLoops).stop();
  expect(await attempts('cut')).toBeGreaterThan(100);
  expect(hanging.received.length).toBeGreaterThan(100);
});
