import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Module } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { Connections } from '../../src/http/server/connections.js';
import { stopServing } from '../../src/http/server/graceful-stop.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';
import { listening, openSocket, receivedBy, statusesIn } from '../support/raw-http.js';

const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n';

let started = 0;

/** More than the operating system takes from a response at once. */
const LARGE = 'x'.repeat(16_000_000);

@Public()
@Controller()
class NeverController {
  @Get('large')
  large(): string {
    return LARGE;
  }

  @Get('never')
  never(): Promise<object> {
    started += 1;
    return new Promise(() => undefined);
  }
}

@Module({ controllers: [NeverController] })
class NeverModule {}

describe('a request that is in flight when the stop starts gets its response', () => {
  let service: TestService;
  beforeEach(async () => (service = await TestService.open({ modules: [NeverModule] })));
  afterEach(() => service.close());

  const server = () => service.app.getHttpServer() as Server;
  const stop = () => stopServing(server(), service.app.get(Connections), 10_000);

  const open = () => listening(service.url);

  it('on connections that have not been accepted yet, of which Node accepts one in a turn', async () => {
    const opened = Array.from({ length: 100 }, open);
    for (const { socket } of opened) socket.write(REQUEST);
    const stopped = stop();
    await Promise.all(opened.map(({ closed }) => closed));
    for (const { received } of opened)
      expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i);
    expect(await stopped).toBe(true);
  });

  it('on a connection from which nothing has been read yet', async () => {
    const { socket, received, closed } = open();
    await Promise.all([once(socket, 'connect'), once(server(), 'connection')]);
    socket.write(REQUEST);
    const stopped = stop();
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i);
    expect(await stopped).toBe(true);
  });

  it('and a connection that never sent a byte is not waited for', async () => {
    const { socket, closed } = open();
    await Promise.all([once(socket, 'connect'), once(server(), 'connection')]);
    expect(await stop()).toBe(true);
    await closed;
  });

  it.each(['keep-alive', 'close'])(
    'whole, although its client reads slowly, with Connection: %s',
    async (connection) => {
      const idle = open();
      idle.socket.write(REQUEST);
      const { socket, closed } = open();
      let received = 0;
      socket.on('data', (chunk: Buffer) => (received += chunk.length));
      socket.write(`GET /large HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`);
      await once(socket, 'data');
      socket.pause();
      const stopped = stop();
      // Longer than idle connections stay open.
      expect(await Promise.race([stopped, pause(600, 'still sending')])).toBe('still sending');
      socket.resume();
      await Promise.all([closed, idle.closed]);
      expect(received).toBeGreaterThan(LARGE.length);
      expect(await stopped).toBe(true);
    },
  );

  it('but is cut when its handler never ends, for which the stop waits no longer than it may', async () => {
    const { socket, received, closed } = open();
    socket.write('GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => started).toBe(1);
    expect(await stopServing(server(), service.app.get(Connections), 100)).toBe(false);
    await closed;
    expect(received()).toBe('');
  });
});

it('requests that arrived together are all handled before the first response is sent', async () => {
  const order: string[] = [];
  const prepare = (app: TestService['app']) =>
    app.use((_: Request, response: Response, next: NextFunction) => {
      order.push('handled');
      const end = response.end.bind(response);
      response.end = ((...body: []) => (order.push('answered'), end(...body))) as Response['end'];
      next();
    });
  const service = await openForTest({ prepare });
  const sockets = [await openSocket(service.url), await openSocket(service.url)];
  const received = sockets.map(receivedBy);
  for (const socket of sockets) socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect((await Promise.all(received)).map(statusesIn)).toEqual([[401], [401]]);
  expect(order).toEqual(['handled', 'handled', 'answered', 'answered']);
});
