import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { Request, Response } from 'express';
import { describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../core/time/clock.js';
import { TestClock } from '../../test/kit/test-clock.js';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import type { Transactions } from '../database/transactions.js';
import { DomainEvents } from '../events/domain-events.js';
import type { Outbox } from '../events/outbox/outbox.js';
import { Metrics } from '../core/metrics/metrics.js';
import { MemoryQuotaStore } from './memory/memory-quota-store.js';
import type { QuotaJournal } from './memory/quota-journal.js';
import type { QuotaStore } from './quota-store.js';
import { DAY_MS, MINUTE_MS, type QuotaSubject, windowsOf } from './quota.js';
import { QuotaService } from './quota.service.js';

const NOON = '2026-11-20T12:00:00.000Z';
const MIDNIGHT = String(Date.parse('2026-11-21T00:00:00.000Z') / 1_000);
const CLIENT: QuotaSubject = { id: 'client:shop', plan: 'pro', perMinute: 2, perDay: 3, keyId: 'key' };
const ADDRESS: QuotaSubject = { id: 'address:192.0.2.7', plan: 'anonymous', perMinute: 2 };

/** A store that fails with this. */
const failing = (failure: unknown) =>
  ({
    take: () => Promise.reject(failure),
    unban: () => Promise.reject(failure),
  }) as unknown as QuotaStore;

function open(store: QuotaStore = new MemoryQuotaStore(new SystemClock()), journal?: QuotaJournal) {
  const clock = new TestClock(NOON);
  const metrics = new Metrics();
  const emitter = new EventEmitter2();
  const events: unknown[] = [];
  emitter.on('api_key.banned', (event) => events.push(event));
  const domainEvents = new DomainEvents(
    emitter,
    { afterCommit: (tell: () => void) => tell() } as Transactions,
    {} as Outbox,
  );
  const quota = new QuotaService(store, journal as QuotaJournal, domainEvents, clock, metrics);
  const messages = (subject: QuotaSubject) => {
    const request = new IncomingMessage(new Socket());
    const response = new ServerResponse(request);
    (request as Request).quotaSubject = subject;
    return [request as Request, response as Response] as const;
  };
  /** What a caller gets: the refusal, if it is one, and the headers. */
  const send = async (subject: QuotaSubject, ...windows: Parameters<QuotaService['take']>[2][]) => {
    const [request, response] = messages(subject);
    const refusal: unknown = await quota.take(request, response, ...windows).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { body: refusal instanceof ApiError ? refusal.body : refusal, headers: response.getHeaders() };
  };
  const show = async (subject: QuotaSubject) => {
    const [request, response] = messages(subject);
    await quota.show(request, response);
    return response.getHeaders();
  };
  /** Uses the windows up and goes on, with the shortest pauses that make strikes. */
  const earnBan = async (subject: QuotaSubject) => {
    for (let sent = 0; sent < 3; sent += 1) await send(subject);
    clock.advance(2_000);
    for (let strikes = 0; strikes < 20; strikes += 1) {
      await send(subject);
      clock.advance(1_000);
    }
    await setImmediate();
  };
  return { quota, clock, metrics, events, send, show, earnBan };
}

describe('a request', () => {
  it('counts in the minute and the day of its client, as the headers say', async () => {
    const { send } = open();
    expect((await send(CLIENT)).headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'ratelimit-policy': '"minute";q=2;w=60, "day";q=3;w=86400',
      ratelimit: '"minute";r=1;t=60, "day";r=2;t=43200',
    });
  });

  it('counts in the minute alone of an address', async () => {
    const { send } = open();
    expect((await send(ADDRESS)).headers).toMatchObject({
      'ratelimit-policy': '"minute";q=2;w=60',
      ratelimit: '"minute";r=1;t=60',
    });
    expect(windowsOf(ADDRESS)).toEqual([{ key: ADDRESS.id, name: 'minute', limit: 2, lengthMs: MINUTE_MS }]);
  });

  it('is a client’s or an address’s for the store', async () => {
    const store = new MemoryQuotaStore(new SystemClock());
    const taken = vi.spyOn(store, 'take');
    const { send } = open(store);
    await send(CLIENT);
    await send(ADDRESS);
    expect(taken.mock.calls.map(([{ subject, isClient }]) => [subject, isClient])).toEqual([
      [CLIENT.id, true],
      [ADDRESS.id, false],
    ]);
  });

  it('outlives the process when it is a client’s, and not when it is an address’s', async () => {
    const used = () => Promise.resolve({ minute: 0, day: 1 });
    const store = new MemoryQuotaStore(new SystemClock(), { used } as unknown as QuotaJournal);
    const { send } = open(store);
    expect((await send(CLIENT)).headers).toMatchObject({ ratelimit: '"minute";r=1;t=60, "day";r=1;t=43200' });
    await send(ADDRESS);
    expect(store.unsaved.drain().counts).toMatchObject([{ key: 'client:shop', inDay: 1 }]);
  });

  it('is refused with 429 once the minute is used up, and told when to come back', async () => {
    const { send } = open();
    await send(CLIENT);
    expect((await send(CLIENT)).body).toBeUndefined();
    const { body, headers } = await send(CLIENT);
    expect(body).toEqual({
      code: 'rate_limit_exceeded',
      message: 'The limit of 2 requests per minute is used up; retry in 60 s.',
      status: 429,
    });
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '60' });
  });

  it('is refused until midnight once the day is', async () => {
    const { send, clock } = open();
    await send(CLIENT);
    await send(CLIENT);
    clock.advance(MINUTE_MS);
    await send(CLIENT);
    const { body, headers } = await send(CLIENT);
    expect(body).toMatchObject({
      code: 'daily_quota_exceeded',
      message: 'The quota of 3 requests per day is used up; it is full again in 43140 s.',
    });
    expect(headers).toMatchObject({ 'x-ratelimit-reset': MIDNIGHT, 'retry-after': '43140' });
  });

  it('counts in the windows of its route instead, where that has its own', async () => {
    const { send } = open();
    const windows = [{ key: 'client:shop:route', name: 'burst', limit: 1, lengthMs: 10_000 }];
    expect((await send(CLIENT, windows)).headers).toMatchObject({ ratelimit: '"burst";r=0;t=10' });
    expect((await send(CLIENT, windows)).body).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'The limit of 1 request per burst is used up; retry in 10 s.',
    });
    expect((await send(CLIENT)).headers).toMatchObject({ 'x-ratelimit-remaining': '1' });
  });

  it('is counted by plan and verdict', async () => {
    const { send, earnBan, metrics } = open();
    await send(ADDRESS);
    await earnBan(CLIENT);
    await send(CLIENT);
    const { text } = await metrics.exposition();
    const counted = [...text.matchAll(/^petstore_quota_verdicts_total\{(.+)\} (\d+)$/gm)];
    expect(counted.map(([, labels, number]) => `${labels} ${number}`)).toEqual([
      'plan="anonymous",verdict="admitted" 1',
      'plan="pro",verdict="admitted" 2',
      'plan="pro",verdict="refused" 20',
      'plan="pro",verdict="banned" 2',
    ]);
    expect(text).toContain(
      '# HELP petstore_quota_verdicts_total Requests admitted, refused by quota, refused because the key is banned, and answered without being counted, by plan.',
    );
  });
});

describe('what is shown without counting', () => {
  it('is how the windows stand, and no refusal', async () => {
    const { send, show } = open();
    await send(CLIENT);
    await send(CLIENT);
    await send(CLIENT);
    for (let shown = 0; shown < 2; shown += 1) {
      const headers = await show(CLIENT);
      expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '2' });
      expect(headers).not.toHaveProperty('retry-after');
    }
    expect(await show(ADDRESS)).toMatchObject({ 'x-ratelimit-remaining': '2' });
  });

  it('is of a client’s days what the journal has', async () => {
    const days = [{ key: 'client:shop', start: 0, used: 5 }];
    const asked: unknown[] = [];
    const journal = {
      days: (...query: unknown[]) => Promise.resolve(asked.push(query) && days),
    } as unknown as QuotaJournal;
    const { quota } = open(new MemoryQuotaStore(new SystemClock()), journal);
    expect(await quota.days(['client:shop'], DAY_MS)).toBe(days);
    expect(asked).toEqual([[['client:shop'], DAY_MS]]);
  });
});

describe('a ban', () => {
  it('is told once, and to the key until when', async () => {
    const { send, earnBan, events } = open();
    await earnBan(CLIENT);
    expect(await send(CLIENT)).toMatchObject({
      body: {
        code: 'api_key_banned',
        message: expect.stringMatching(
          /^The API key is banned until 2026-11-20T12:05:21\.000Z, .+ in 299 s\.$/,
        ),
      },
      headers: { 'retry-after': '299' },
    });
    await setImmediate();
    expect(events).toEqual([{ keyId: 'key', clientId: 'shop', bannedUntil: '2026-11-20T12:05:21.000Z' }]);
  });

  it('is not told of what is no client', async () => {
    const { earnBan, events } = open();
    await earnBan({ ...CLIENT, id: 'a team' });
    expect(events).toEqual([]);
  });

  it('is lifted by unban', async () => {
    const { quota, send, earnBan, clock } = open();
    await earnBan(CLIENT);
    clock.advance(MINUTE_MS);
    await quota.unban('key', 'client:shop');
    expect((await send(CLIENT)).body).toBeUndefined();
  });

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('lasts as long as it would have when the clock is set %s', async (_, step) => {
    const { send, show, earnBan, clock } = open();
    await earnBan(CLIENT);
    clock.step(step);
    await show(CLIENT);
    clock.advance(298_999);
    expect((await send(CLIENT)).body).toMatchObject({ code: 'api_key_banned' });
    clock.advance(1);
    expect((await send(CLIENT)).body).not.toMatchObject({ code: 'api_key_banned' });
  });
});

describe('counters that cannot be read', () => {
  it('are 503 with Retry-After', async () => {
    const cause = new Error('disk I/O error');
    const { quota, send } = open(failing(cause));
    expect((await send(CLIENT)).body).toEqual({
      code: 'service_unavailable',
      message: 'The service cannot handle the request right now: the quota cannot be read.',
      status: 503,
    });
    await expect(quota.unban('key', 'client:shop')).rejects.toMatchObject({
      message: 'The service cannot handle the request right now: the ban cannot be lifted.',
      headers: { 'Retry-After': '1' },
      cause,
    });
  });

  it('are refused as the store refuses them, where it says so itself', async () => {
    const refusal = new ApiError(HTTP_ERRORS.service_unavailable, { params: { reason: 'of its own' } });
    const { quota } = open(failing(refusal));
    await expect(quota.unban('key', 'client:shop')).rejects.toBe(refusal);
  });
});
