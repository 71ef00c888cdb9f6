import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Controller, Get, Module, Post, Res, Sse } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import fc from 'fast-check';
import { interval, map } from 'rxjs';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type RequestOptions, TestService } from '../kit/test-service.js';
import { parseRaw } from '../support/raw-http.js';
import { described } from '../support/described.js';
import { UNLIMITED } from '../support/opened.js';

/** Larger than what sockets and their peers hold of a response that is not read. */
const LARGE = 'x'.repeat(16_000_000);

/** Handlers that wait until the test lets them go. */
let waiting: (() => void)[] = [];
const letGo = (): void => waiting.splice(0).forEach((go) => go());
afterEach(letGo);

function wait(): Promise<void> {
  return new Promise((resolve) => waiting.push(resolve));
}

const TEXT = { contentType: 'text/plain' };

@Controller({ path: 'works', version: '1' })
class WorksController {
  @Get('waits')
  @described('waits', TEXT)
  async waits(): Promise<string> {
    await wait();
    return 'done';
  }

  @Post('takes')
  @described('takes', TEXT)
  async takes(): Promise<string> {
    await wait();
    return 'done';
  }

  /** Nest runs it, because it writes its response itself. */
  @Get('writes')
  async writes(@Res() response: Response): Promise<void> {
    await wait();
    response.end('done');
  }

  @Get('fails')
  @described('fails', TEXT)
  async fails(): Promise<string> {
    await wait();
    throw new Error('It fails.');
  }

  @Get('large')
  @described('large', TEXT)
  large(): string {
    return LARGE;
  }

  @Sse('news')
  news() {
    return interval(10).pipe(map((at) => ({ data: String(at) })));
  }
}

/** Blocks the event loop in the very turn in which the request is read. */
function block({ path }: Request, response: Response, next: NextFunction): void {
  if (path !== '/blocks') return next();
  for (const until = performance.now() + 30; performance.now() < until;);
  response.end();
  return undefined;
}

@Module({ controllers: [WorksController] })
class WorksModule {}

/** Those that tests share, by their environment. */
const services = new Map<string, TestService>();
afterAll(() => Promise.all([...services.values()].map((service) => service.close())));

/** A service that no request is in flight of. */
async function shared(environment: Record<string, string>): Promise<TestService> {
  const name = JSON.stringify(environment);
  const service = services.get(name) ?? (await started(environment));
  services.set(name, service);
  await expect.poll(() => inFlight(service)).toBe(0);
  return service;
}

async function open(environment: Record<string, string>): Promise<TestService> {
  const service = await started(environment);
  onTestFinished(() => service.close());
  return service;
}

async function started(environment: Record<string, string>): Promise<TestService> {
  return TestService.open({
    environment,
    modules: [WorksModule],
    prepare: (app) => app.use(block),
    ...UNLIMITED,
  });
}

const inFlight = (service: TestService) => service.metric('http_requests_in_flight');

/** Sends this, and returns the connection. */
function sent(service: TestService, head: string, body = ''): Socket {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.write(`${head}\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n\r\n${body}`);
  return socket;
}

/** So many open connections that the service has accepted. */
function connected(service: TestService, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('latin1');
      onTestFinished(() => void socket.destroy());
      socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
      await firstStatus(socket);
      return socket;
    }),
  );
}

async function firstStatus(socket: Socket): Promise<number> {
  const [text] = (await once(socket, 'data')) as [string];
  return Number(text.slice(9, 12));
}

/** Starts the given number of requests that wait; returns how to wait for their statuses. */
async function busy(service: TestService, count: number): Promise<() => Promise<number[]>> {
  const responses = Array.from({ length: count }, () => service.request('GET', '/v1/works/waits'));
  onTestFinished(async () => {
    letGo();
    await Promise.allSettled(responses);
  });
  await expect.poll(() => waiting.length).toBe(count);
  return async () => (await Promise.all(responses)).map(({ status }) => status);
}

describe('at the bound of requests in flight', () => {
  it('a request is refused with 503, and those in flight get their response', async () => {
    const service = await open({ MAX_REQUESTS_IN_FLIGHT: '2' });
    const admitted = await busy(service, 2);
    const refused = await service.request('GET', '/v1/pets', { headers: { 'x-request-id': 'mine' } });
    expect(refused).toMatchObject({
      status: 503,
      body: {
        code: 'service_unavailable',
        message: 'The service cannot handle the request right now: it is overloaded.',
        status: 503,
      },
    });
    expect(refused.headers.get('retry-after')).toMatch(/^[123]$/);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'x-request-id': 'mine',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    letGo();
    expect(await admitted()).toEqual([200, 200]);
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
    expect(await service.metric('http_requests_shed_total', { reason: 'in_flight' })).toBe(1);
    expect(await service.metric('http_requests_total', { route: 'shed', status: '503' })).toBe(1);
  });

  it.each([
    ['https://shop.example', 'https://shop.example', 'https://shop.example', 'Origin'],
    ['*', 'https://any.example', '*', null],
  ])('with CORS_ORIGINS=%s a page of %s may read a refusal and its headers: %s', async (...row) => {
    const [origins, origin, allowed, vary] = row;
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1', CORS_ORIGINS: origins });
    const ordinary = await service.request('GET', '/v1/pets', { headers: { origin } });
    await busy(service, 1);
    const { status, headers } = await service.request('GET', '/v1/pets', { headers: { origin } });
    expect([status, headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual([
      503,
      allowed,
      vary,
    ]);
    for (const name of ['access-control-allow-origin', 'access-control-expose-headers'])
      expect(headers.get(name)).toBe(ordinary.headers.get(name));
    if (allowed !== null) expect(headers.get('access-control-expose-headers')).toContain('Retry-After');
  });

  it('a preflight gets a response, so that the page can read the refusal of its request', async () => {
    const origin = 'https://shop.example';
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1', CORS_ORIGINS: origin });
    const preflight = () =>
      fetch(`${service.url}/v1/pets`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        },
      });
    const ordinary = await preflight();
    await busy(service, 1);
    const { status, headers } = await preflight();
    expect([ordinary.status, status]).toEqual([204, 204]);
    for (const name of ['origin', 'methods', 'headers'])
      expect(headers.get(`access-control-allow-${name}`)).toBe(
        ordinary.headers.get(`access-control-allow-${name}`),
      );
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(await inFlight(service)).toBe(1);
  });

  it('a refusal shows what is left: to a valid key its quota, to others that of their address', async () => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    const { headers: before } = await service.request('GET', '/v1/pets');
    await busy(service, 1);
    const shown = async (options: RequestOptions) => {
      const { status, headers } = await service.request('GET', '/v1/pets', options);
      expect(status).toBe(503);
      return [
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
        'ratelimit-policy',
        'ratelimit',
      ].map((name) => headers.get(name));
    };
    expect(await shown({})).toEqual([
      '1000000',
      String(Number(before.get('x-ratelimit-remaining')) - 1),
      before.get('x-ratelimit-reset'),
      before.get('ratelimit-policy'),
      expect.stringContaining(`"minute";r=${Number(before.get('x-ratelimit-remaining')) - 1};`),
    ]);
    for (const key of [null, 'wrong'])
      expect(await shown({ key })).toEqual([
        '60',
        '60',
        String(Date.parse('2026-11-20T12:01Z') / 1_000),
        '"minute";q=60;w=60',
        expect.stringContaining('"minute";r=60;'),
      ]);
  });

  it('refusals are 1 ms apart, so that clients that repeat them immediately do not use up the processor', async () => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    await busy(service, 1);
    const sockets = await connected(service, 400);
    const startedAt = performance.now();
    for (const socket of sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n');
    const statuses = await Promise.all(sockets.map((socket) => firstStatus(socket)));
    expect(new Set(statuses)).toEqual(new Set([503]));
    // Timers may run 1 ms early.
    expect(performance.now() - startedAt).toBeGreaterThan(390);
  });

  it('a refusal that waits lets its client send no more than 6 MiB of a body', async () => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    await busy(service, 1);
    const sockets = await connected(service, 600);
    for (const socket of sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n');
    const socket = sent(service, 'POST /v1/pets HTTP/1.1\r\nContent-Length: 9000000000');
    let status: number | undefined;
    void firstStatus(socket).then((first) => (status = first));
    const chunk = Buffer.alloc(65_536);
    let accepted = 0;
    // Called once the system has taken the bytes.
    const write = (): void =>
      void socket.write(chunk, (error) => {
        if (error) return;
        accepted += chunk.length;
        write();
      });
    write();
    await expect.poll(() => status, { interval: 5 }).toBe(503);
    // What the buffers of both sides take comes on top.
    expect(accepted).toBeLessThan(24 * 1_048_576);
  });

  it('health checks get a response', async () => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    await busy(service, 1);
    for (const path of ['/health/live', '/health/ready', '/health/live?now'])
      expect((await service.request('GET', path)).status).toBe(200);
    expect((await service.request('GET', '/healthy')).status).toBe(503);
  });

  it('a POST is refused without its body, and its connection stays open', async () => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    await busy(service, 1);
    const socket = sent(service, 'POST /v1/pets HTTP/1.1\r\nContent-Length: 2', '{}');
    const [first] = (await once(socket, 'data')) as [string];
    expect(parseRaw(first)).toMatchObject({
      status: 503,
      head: expect.not.stringMatching(/connection: close/i),
    });
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('no place is held by', () => {
  it.each<[string, (service: TestService) => Socket]>([
    [
      'half a body',
      (service) =>
        sent(service, 'POST /v1/pets HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9', '{}'),
    ],
    ['a stream of events', (service) => sent(service, 'GET /v1/works/news HTTP/1.1')],
    ['an answer that is not read', (service) => sent(service, 'GET /v1/works/large HTTP/1.1').pause()],
  ])('%s', async (_name, start) => {
    const service = await shared({ MAX_REQUESTS_IN_FLIGHT: '1' });
    for (let count = 0; count < 3; count += 1) {
      start(service);
      await expect.poll(() => inFlight(service)).toBe(0);
    }
    await expect.poll(async () => (await service.request('GET', '/v1/pets')).status).toBe(200);
  });
});

describe('when its client has disconnected', () => {
  it.each(['waits', 'writes'])('a request holds its place until its handler is done: %s', async (path) => {
    const service = await open({ MAX_REQUESTS_IN_FLIGHT: '1' });
    const socket = sent(service, `GET /v1/works/${path} HTTP/1.1`);
    await expect.poll(() => waiting.length).toBe(1);
    socket.destroy();
    const closed = () => service.metric('http_requests_total', { status: '499' });
    await expect.poll(closed).toBe(1);
    expect(await inFlight(service)).toBe(1);
    letGo();
    await expect.poll(() => inFlight(service)).toBe(0);
  });
});

it('every place is released once, however requests end', async () => {
  const service = await open({ MAX_REQUESTS_IN_FLIGHT: '8' });
  const tag = (await service.request('GET', '/v1/pets')).headers.get('etag') ?? '';
  const body = '{"name":"Rex","categoryId":1}';
  const post = (path: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${length}`;
  const requests: Record<string, [head: string, body?: string]> = {
    'a list': ['GET /v1/pets HTTP/1.1'],
    HEAD: ['HEAD /v1/pets HTTP/1.1'],
    '304': [`GET /v1/pets HTTP/1.1\r\nIf-None-Match: ${tag}`],
    '404': ['GET /v1/nowhere HTTP/1.1'],
    'a broken path': ['GET /%zz HTTP/1.1'],
    'a waiting one': ['GET /v1/works/waits HTTP/1.1'],
    'one that Nest runs': ['GET /v1/works/writes HTTP/1.1'],
    'a failing one': ['GET /v1/works/fails HTTP/1.1'],
    'a large one': ['GET /v1/works/large HTTP/1.1'],
    'a stream': ['GET /v1/works/news HTTP/1.1'],
    'a POST': [post('/v1/pets'), body],
    'a POST that waits': [post('/v1/works/takes'), body],
    'half a POST': [post('/v1/works/takes'), '{'],
    'a POST to nowhere': [post('/v1/nowhere'), body],
    'a POST without a key': [`${post('/v1/pets')}\r\nAuthorization: none`, body],
    'a body on GET': ['GET /v1/works/waits HTTP/1.1\r\nContent-Length: 5', 'ab'],
    'two at once': ['GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/works/waits HTTP/1.1'],
    'no HTTP': ['GET /v1/pets HTTP/9.9'],
  };
  const steps = fc.array(
    fc.record({
      request: fc.constantFrom(...Object.keys(requests)),
      end: fc.constantFrom('leaves', 'reads', 'is slow', 'resets'),
      letGo: fc.boolean(),
    }),
    { minLength: 1, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const sockets: Socket[] = [];
      for (const { request, end, letGo: goes } of all) {
        const [head = '', text] = requests[request] ?? [];
        const socket = sent(service, head, text);
        sockets.push(socket);
        if (end === 'reads') socket.resume();
        if (end === 'is slow') socket.pause();
        await service.request('GET', '/health/live');
        if (end === 'leaves') socket.end();
        if (end === 'resets') socket.resetAndDestroy();
        if (goes) letGo();
        expect(await inFlight(service)).toBeLessThanOrEqual(8);
      }
      for (const socket of sockets) socket.destroy();
      await expect.poll(() => (letGo(), inFlight(service)), { interval: 5 }).toBe(0);
    }),
    { numRuns: 12 },
  );
});

describe('when the event loop is late', () => {
  it('for longer than the bound, twice in a row, requests are refused; the service gets through the rest', async () => {
    const service = await open({ MAX_EVENT_LOOP_LAG_MS: '100' });
    // All of a group are read in one turn of the event loop: they take 600 ms, one after the other.
    const groups = await Promise.all([connected(service, 20), connected(service, 20)]);
    const [first, second] = groups.map((sockets) => sockets.map(firstStatus));
    const write = (sockets: readonly Socket[] = []) => {
      for (const socket of sockets)
        socket.write(`GET /blocks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n\r\n`);
    };
    write(groups[0]);
    await first?.[0];
    write(groups[1]);
    expect(new Set(await Promise.all(first ?? []))).toEqual(new Set([200]));
    expect(new Set(await Promise.all(second ?? []))).toEqual(new Set([200, 503]));
    expect(await service.metric('http_requests_shed_total', { reason: 'event_loop_lag' })).toBeGreaterThan(0);
    expect(await service.metric('http_event_loop_lag_seconds')).toBeGreaterThan(0.1);
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
  });

  it('once, as in a pause of the garbage collector, nothing is refused', async () => {
    const service = await open({ MAX_EVENT_LOOP_LAG_MS: '100' });
    await service.request('GET', '/v1/pets');
    const all = Array.from({ length: 20 }, () => service.request('GET', '/v1/pets'));
    await new Promise(setImmediate);
    for (const until = performance.now() + 300; performance.now() < until;);
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});
