import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { TestService } from '../kit/test-service.js';
import { listening } from '../support/raw-http.js';
import { openForTest } from '../support/opened.js';

it('a connection that a module upgrades is its own: neither time limits nor refusals of HTTP reach it', async () => {
  const service = await openForTest({ environment: { HEADERS_TIMEOUT_MS: '1000' } });
  const server = service.app.getHttpServer() as Server;
  server.on('upgrade', (_request, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const { socket } = listening(service.url);
  socket.write(`GET /echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 101 /);
  await headLimitPasses(service);
  let echoed = 0;
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (text: string) => {
      echoed += text.length;
      if (echoed === 200_000) resolve();
    });
  });
  socket.write('x'.repeat(200_000));
  await whole;
});

/** Waits until the service has refused a head that started after all before: whoever has a time limit has been over it since. */
async function headLimitPasses(service: TestService): Promise<void> {
  const { socket: slow } = listening(service.url);
  slow.write('GET /health/live HTTP/1.1\r\n');
  expect(String((await once(slow, 'data'))[0])).toMatch(/^HTTP\/1\.1 408 /);
}
