import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type Socket, connect } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { TestService } from '../kit/test-service.js';
import { UNLIMITED, openForTest } from '../support/opened.js';

const START = 'http.server.request.start';
const PATHS = Array.from({ length: 300 }, (_, at) => `/v1/pets?limit=1&asked=${at % 100}`);

it('handled together run each in the async context in which it arrived, to the end of its response', async () => {
  // As tools for observability do it.
  const context = new AsyncLocalStorage<string>();
  const enter = (message: unknown): void =>
    context.enterWith((message as { request: IncomingMessage }).request.url ?? '');
  subscribe(START, enter);
  onTestFinished(() => void unsubscribe(START, enter));
  const seen: [string, string, string | undefined][] = [];
  const service = await openForTest({
    ...UNLIMITED,
    prepare: (app) =>
      app.use((request: Request, response: Response, next: NextFunction) => {
        const note = (when: string) => () => seen.push([when, request.originalUrl, context.getStore()]);
        note('start')();
        response.once('finish', note('finish')).once('close', note('close'));
        next();
      }),
  });
  const asked = [...PATHS, ...PATHS.map((path) => path.replace('pets', 'nothing'))];
  await Promise.all(asked.map((path) => service.request('GET', path, { key: service.key })));
  await expect.poll(() => seen.length).toBe(3 * asked.length);
  expect(seen.filter(([, url, store]) => store !== url)).toEqual([]);
});

function connectionsOf({ app }: TestService): Promise<number> {
  const server = app.getHttpServer() as Server;
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

/** Sends a request on each of many new connections in one turn of the event loop. */
async function sendTogether(service: TestService, count: number): Promise<Socket[]> {
  const { port, hostname } = new URL(service.url);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await expect.poll(() => connectionsOf(service)).toBeGreaterThanOrEqual(count);
  const head = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n\r\n`;
  for (const socket of sockets) socket.on('error', () => undefined).write(head);
  return sockets;
}

it('are timed from their arrival, also if others are handled first', async () => {
  const [count, busyMs] = [5, 60];
  const service = await openForTest({
    prepare: (app) =>
      app.use((_: Request, __: Response, next: NextFunction) => {
        const until = performance.now() + busyMs;
        while (performance.now() < until);
        next();
      }),
  });
  const sockets = await sendTogether(service, count);
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  const labels = { method: 'GET', route: '/v1/pets', status: '200' };
  const timed = (figure: string) => service.metric(`http_request_duration_seconds_${figure}`, labels);
  await expect.poll(() => timed('count')).toBe(count);
  // Each waits for all of them. Timed from the start of its own middlewares, they would take three fifths of that.
  expect(await timed('sum')).toBeGreaterThan((0.8 * count * count * busyMs) / 1_000);
  for (const socket of sockets) socket.destroy();
});

it('keep the address of a client whose connection is lost between its arrival and its turn', async () => {
  const lose = (message: unknown): void =>
    void (message as { request: IncomingMessage }).request.socket.destroy();
  subscribe(START, lose);
  onTestFinished(() => void unsubscribe(START, lose));
  const addresses: (string | undefined)[] = [];
  const service = await openForTest({
    prepare: (app) =>
      app.use((request: Request, _: Response, next: NextFunction) => {
        addresses.push(request.ip);
        next();
      }),
  });
  await sendTogether(service, 3);
  await expect.poll(() => addresses).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.1']);
});

it('of clients that are gone before their turn leave nothing in flight', async () => {
  let sockets: Socket[] = [];
  const carriedOut: Response[] = [];
  const service = await openForTest({
    ...UNLIMITED,
    prepare: (app) =>
      app.use((_: Request, response: Response, next: NextFunction) => {
        // While the first one is handled.
        for (const socket of sockets.splice(0)) socket.resetAndDestroy();
        carriedOut.push(response);
        next();
      }),
  });
  sockets = await sendTogether(service, 1_000);
  await expect.poll(() => connectionsOf(service)).toBe(0);
  // Handled after all of them.
  expect((await service.request('GET', '/v1/pets?limit=1', { key: service.key })).status).toBe(200);
  await expect.poll(() => carriedOut.every((response) => response.closed)).toBe(true);
  expect(await service.metric('http_requests_in_flight')).toBe(0);
});

it('are admitted in small groups, each once the previous one is handled, so that an overload is noticed in between', async () => {
  const running = { now: 0, most: 0 };
  const service = await openForTest({
    ...UNLIMITED,
    prepare: (app) =>
      app.use((_: Request, response: Response, next: NextFunction) => {
        running.now += 1;
        running.most = Math.max(running.most, running.now);
        vi.spyOn(response, 'writeHead').mockImplementationOnce((...args) => {
          running.now -= 1;
          return response.writeHead(...(args as [number]));
        });
        next();
      }),
  });
  // A write in the background empties the cache, and the next group is admitted while one waits for its query.
  await vi.waitFor(async () => {
    running.most = 0;
    await service.request('GET', '/v1/pets?limit=1', { key: service.key });
    const sockets = await sendTogether(service, 200);
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    for (const socket of sockets) socket.destroy();
    expect(running).toEqual({ now: 0, most: 32 });
  }, 60_000);
});
