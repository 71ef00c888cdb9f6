import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestResponse } from '../kit/test-service.js';
import type { Responder } from '../support/webhook-receiver.js';
import { respondWith, opened, receive } from '../support/webhook-service.js';

const MINUTE = 60_000;
const { service, post, deliver, endpointAt, endpoint, clock, clear } = await opened();
let admin: string;
let own: string;
beforeAll(async () => {
  ({ key: admin } = await service.issueKey({ scopes: ['admin', 'pets:read'] }));
  ({ key: own } = await service.issueKey({ scopes: ['account', 'pets:read'] }));
});
afterAll(() => service.close());
beforeEach(() => clear());

const requestJson = async (path: string, key = admin) => {
  const audience = key === own ? '/account' : '/admin';
  return (await service.request('GET', `${audience}/webhooks/${path}`, { key })).body;
};
const posted = (path: string, key = admin) =>
  service.request('POST', `${key === own ? '/account' : '/admin'}/webhooks/${path}`, { key });

const outcome = ({ status, body }: TestResponse) => `${status} ${body.code}`;

/** An endpoint that has failed twice at the first of these messages, and is next attempted in some five minutes. */
async function failing(names: readonly string[], respond: Responder = respondWith(500)) {
  const receiver = await receive(respond);
  const { id } = await endpointAt(receiver.url);
  for (const name of names) await post(name);
  await deliver();
  clock.advance(6_000);
  await deliver();
  expect(receiver.names).toEqual([names[0], names[0]]);
  return { receiver, id };
}

/** A delivery as it is shown. */
interface Shown {
  readonly id: number;
  readonly waitingBefore: number | null;
  readonly nextAttemptAt: string | null;
}

/** The deliveries of an endpoint, oldest first. */
const logOf = async (id: string) => ((await requestJson(`${id}/deliveries`)) as Shown[]).toReversed();

it.each(['admin', 'own'])('a failing endpoint is retried at once by %s, in order', async (by) => {
  const key = by === 'own' ? own : admin;
  const { receiver, id } = await failing(['A', 'B', 'C']);
  const { nextAttemptAt, failingSince } = await requestJson(id, key);
  expect(Date.parse(nextAttemptAt) - clock.now()).toBeGreaterThanOrEqual(5 * MINUTE);
  expect((await logOf(id)).map((one) => [one.waitingBefore, one.nextAttemptAt])).toEqual([
    [0, nextAttemptAt],
    [1, nextAttemptAt],
    [2, nextAttemptAt],
  ]);
  receiver.respond = (response) => response.writeHead(204).end();
  const retried = await posted(`${id}/retry`, key);
  expect(retried.status).toBe(200);
  const now = new Date(clock.now()).toISOString();
  expect(retried.body).toMatchObject({ waiting: 3, failingSince, nextAttemptAt: now });
  await deliver();
  expect(receiver.names).toEqual(['A', 'A', 'A', 'B', 'C']);
  expect(await requestJson(id, key)).toMatchObject({ waiting: 0, failingSince: null, nextAttemptAt: null });
  expect((await logOf(id)).map((one) => [one.waitingBefore, one.nextAttemptAt])).toEqual([
    [null, null],
    [null, null],
    [null, null],
  ]);
});

it('failing endpoints are listed with their number, and one says why its last attempt failed', async () => {
  const healthy = await receive(respondWith(204));
  await endpointAt(healthy.url);
  const { receiver, id } = await failing(['A', 'B']);
  const errors = async () => {
    const { body } = await service.request('GET', '/admin/webhooks', { key: admin });
    const endpoints = body as { id: string; lastError: string | null }[];
    return Object.fromEntries(endpoints.map((one) => [one.id === id ? 'failing' : 'healthy', one.lastError]));
  };
  const listed = async (query: string) => {
    const { body, headers } = await service.request('GET', `/admin/webhooks?${query}`, { key: admin });
    return [(body as { id: string }[]).map((one) => one.id), headers.get('x-total-count')];
  };
  expect(await listed('state=failing')).toEqual([[id], '1']);
  expect((await listed(''))[1]).toBe('2');
  expect(await requestJson(id)).toMatchObject({ lastError: 'It responded with 500.' });
  expect(await errors()).toEqual({ failing: 'It responded with 500.', healthy: null });
  receiver.respond = (response) => response.writeHead(204).end();
  await posted(`${id}/retry`);
  await deliver();
  expect(await listed('state=failing')).toEqual([[], '0']);
  expect(await requestJson(id)).toMatchObject({ lastError: null });
  expect(await errors()).toEqual({ failing: null, healthy: null });
  expect(await listed('state=disabled')).toEqual([[], '0']);
  await service.request('PATCH', `/admin/webhooks/${id}`, { key: admin, json: { enabled: false } });
  expect(await listed('state=disabled')).toEqual([[id], '1']);
});

it('many retries in a row do not use up the schedule, after which an endpoint is disabled', async () => {
  const { receiver, id } = await failing(['A']);
  for (let times = 0; times < 12; times += 1) {
    expect((await posted(`${id}/retry`)).status).toBe(200);
    await deliver();
  }
  expect(receiver.received).toHaveLength(14);
  expect(await endpoint(id)).toMatchObject({ failures: 2, disabledAt: null });
});

it('a delivery is retried after those that wait before it, and only while it waits', async () => {
  const { receiver, id } = await failing(['A', 'B']);
  const [first, second] = await logOf(id);
  receiver.respond = (response) => response.writeHead(204).end();
  const { status, body } = await posted(`${id}/deliveries/${second?.id}/retry`);
  expect([status, body.id, body.waitingBefore]).toEqual([200, second?.id, 1]);
  await deliver();
  expect(receiver.names).toEqual(['A', 'A', 'A', 'B']);
  const again = await posted(`${id}/deliveries/${first?.id}/retry`);
  expect(outcome(again)).toBe('409 webhook_delivery_not_waiting');
});

it('a test and a redelivery say when they are sent', async () => {
  const { id } = await failing(['A', 'B']);
  const { nextAttemptAt } = await requestJson(id);
  const test = await posted(`${id}/test`);
  expect(test.body).toMatchObject({ state: 'waiting', waitingBefore: 2, nextAttemptAt });
  const again = await posted(`${id}/deliveries/${(await logOf(id))[0]?.id}/redeliver`);
  expect(again.body).toMatchObject({ state: 'waiting', waitingBefore: 3, nextAttemptAt });
});

it('no message is added to an endpoint whose client is suspended, and none is retried', async () => {
  const { id } = await failing(['A']);
  const other = await service.issueKey({ plan: 'business', scopes: ['admin', 'pets:read'] });
  await service.request('POST', `/admin/clients/${service.clientId}/suspend`, { key: other.key });
  try {
    const [one] = (await service.request('GET', `/admin/webhooks/${id}/deliveries`, { key: other.key })).body;
    for (const path of ['test', 'retry', `deliveries/${one.id}/redeliver`, `deliveries/${one.id}/retry`])
      expect(outcome(await posted(`${id}/${path}`, other.key)), path).toBe('409 webhook_client_suspended');
  } finally {
    await service.request('POST', `/admin/clients/${service.clientId}/resume`, { key: other.key });
  }
});

it('a retry during an attempt that is delivered leaves nothing failing', async () => {
  let retried: ReturnType<typeof posted> | undefined;
  const { receiver, id } = await failing(['A']);
  clock.advance(6 * MINUTE);
  await deliver();
  expect(await endpoint(id)).toMatchObject({ failures: 3 });
  receiver.respond = async (response) => {
    retried = posted(`${id}/retry`);
    await retried;
    response.writeHead(204).end();
  };
  clock.advance(40 * MINUTE);
  await deliver();
  expect((await retried)?.status).toBe(200);
  expect(await requestJson(id)).toMatchObject({ waiting: 0, failingSince: null, nextAttemptAt: null });
});

it('each attempt is shown with its time, status, duration, and the harmless beginning of its response', async () => {
  const startedAt = new Date(clock.now()).toISOString();
  const text = 'a\u001B[31m\u0000\u202Eb\nß';
  const { receiver, id } = await failing(['A'], (response) => response.writeHead(503).end(text));
  for (const respond of [
    (response) => response.destroy(),
    (response) => response.writeHead(200).end(`${'x'.repeat(499)}ß${'y'.repeat(9_000)}`),
  ] satisfies Responder[]) {
    receiver.respond = respond;
    await posted(`${id}/retry`);
    await deliver();
  }
  const [delivery] = await logOf(id);
  const path = `${id}/deliveries/${delivery?.id}`;
  const { attempts, attemptedAt, attemptLog } = await requestJson(path);
  expect([attempts, attemptLog.length]).toEqual([4, 4]);
  const error = 'It responded with 503.';
  expect(attemptLog[0]).toEqual({
    at: startedAt,
    status: 503,
    error,
    durationMs: expect.any(Number),
    response: 'a\uFFFD[31m\uFFFD\uFFFDb\nß',
  });
  expect(attemptLog[2]).toMatchObject({
    status: null,
    response: null,
    error: expect.stringContaining('closed'),
  });
  expect(attemptLog[3]).toMatchObject({
    at: attemptedAt,
    status: 200,
    error: null,
    response: 'x'.repeat(499),
  });
  // The host is not public: what it responds is not for its owner.
  const { attemptLog: ofOwner } = await requestJson(path, own);
  expect(ofOwner[0]).toEqual({ ...attemptLog[0], response: null });
});

it('the latest ten attempts are stored', async () => {
  const { id } = await failing(['A']);
  for (let times = 0; times < 10; times += 1) {
    clock.advance(1_000);
    await posted(`${id}/retry`);
    await deliver();
  }
  const { attempts, attemptedAt, attemptLog } = await requestJson(
    `${id}/deliveries/${(await logOf(id))[0]?.id}`,
  );
  expect([attempts, attemptLog.length, attemptLog.at(-1).at]).toEqual([12, 10, attemptedAt]);
});
