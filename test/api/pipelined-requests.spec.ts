import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Socket, connect } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../support/gate.js';
import { openForTest } from '../support/opened.js';
import { listening, receivedBy, sendRaw, statusesIn } from '../support/raw-http.js';

const MANY = 200;
const END = '\r\n\r\n';
const PADDING = 'x'.repeat(15_000);

/** How many requests are being carried out, now and at most. */
const running = { now: 0, most: 0 };

/** Slower than the limits on heads allow for all requests together. */
function slow(_: Request, response: Response, next: NextFunction): void {
  running.now += 1;
  running.most = Math.max(running.most, running.now);
  response.once('close', () => (running.now -= 1));
  setTimeout(next, 15);
}

it('are handled and get their responses in order, however long that takes: no head is late that the service has not read yet', async () => {
  const service = await openForTest({
    environment: { HEADERS_TIMEOUT_MS: '1000' },
    prepare: (app) => app.use(slow),
  });
  const get = (more = '') =>
    `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\nX-Pad: ${'x'.repeat(700)}\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const received = await sendRaw(service.url, get().repeat(MANY - 1) + get('Connection: close\r\n'));
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toEqual(Array.from({ length: MANY }, () => '200'));
  expect(running).toEqual({ now: 0, most: 1 });
});

it.each([
  ['all in one write', 3],
  ['more than one read', 200],
])('all get a response although the client has ended its side: %s', async (_, count) => {
  const service = await openForTest({ prepare: (app) => app.use(slow) });
  const { socket, received } = listening(service.url);
  socket.end(`GET /health/live HTTP/1.1\r\nHost: a\r\nX-Pad: ${'x'.repeat(700)}\r\n\r\n`.repeat(count));
  await once(socket, 'close');
  expect(statusesIn(received())).toHaveLength(count);
});

/** A service that continues with a request for /held when the gate is opened. */
async function heldService() {
  const { open, opened } = gate();
  const delayed = async ({ path }: Request, _: Response, next: NextFunction): Promise<void> => {
    if (path === '/held') await opened;
    next();
  };
  // However slow the machine is, no time limit closes a connection.
  const environment = { HEADERS_TIMEOUT_MS: '600000', REQUEST_TIMEOUT_MS: '600000' };
  const service = await openForTest({ environment, prepare: (app) => app.use(delayed) });
  return { service, open };
}

/** The head of a request for a path that is held, or that has no limit. */
const head = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;

describe('while a request waits for the one before it', () => {
  it('nothing more is read from its connection, and of what was read no second head is parsed', async () => {
    const { service, open } = await heldService();
    const arrived: string[] = [];
    const server = service.app.getHttpServer() as Server;
    server.prependListener('request', ({ url = '' }) => arrived.push(url));
    const { socket, received } = listening(service.url);
    const waiting = head('/health/live').repeat(500) + head('/health/live', `X: ${PADDING}\r\n`).repeat(64);
    socket.write(head('/held') + waiting);
    await expect.poll(() => arrived.length).toBeGreaterThan(1);
    // Whatever else has arrived is read by now.
    for (let round = 0; round < 5; round += 1) await service.request('GET', '/docs');
    expect(arrived.filter((url) => url !== '/docs')).toEqual(['/held', '/health/live']);
    open();
    await expect.poll(() => statusesIn(received()).length).toBe(565);
  });

  it('is handled with its body, however that is sent, and however its bytes are split', async () => {
    const { service, open } = await heldService();
    const post = (fields: string, body: string) =>
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n${fields}${END}${body}`;
    const pet = `{"name":"Waits","categoryId":1${' '.repeat(70_000)}}`;
    const chunks = [...pet.matchAll(/[^]{1,997}/g)].map(
      ([chunk]) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    );
    const sent =
      head('/held') +
      post(`Content-Length: ${pet.length}`, pet) +
      post('Transfer-Encoding: chunked', `${chunks.join('')}0${END}`) +
      post(`Expect: 100-continue\r\nContent-Length: ${pet.length}`, pet) +
      head('/health/live') +
      post('Content-Length: 2', '[]') +
      head('/health/live', 'Connection: close\r\n');
    const whole = listening(service.url);
    whole.socket.write(sent);
    const split = listening(service.url);
    for (let at = 0; at < sent.length; at += 20_011) {
      split.socket.write(sent.slice(at, at + 20_011));
      await service.request('GET', '/health/live');
    }
    open();
    await Promise.all([whole.closed, split.closed]);
    for (const { received } of [whole, split])
      expect(statusesIn(received())).toEqual([404, 201, 201, 100, 201, 200, 400, 200]);
  });

  it('has its connection closed first if its address holds more than others, beyond a budget of bytes', async () => {
    const { service, open } = await heldService();
    const { hostname, port } = new URL(service.url);
    const from = async (localAddress: string, bytes: string): Promise<Socket> => {
      const socket = connect({ port: Number(port), host: hostname, localAddress });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => socket.destroy()).write(bytes);
      await once(socket, 'connect');
      return socket;
    };
    const innocents = ['127.0.0.1', '127.0.0.2', '127.0.0.2'].map((address) =>
      from(address, head('/held') + head('/health/live') + head('/health/live', 'Connection: close\r\n')),
    );
    const responses = (await Promise.all(innocents)).map(receivedBy);
    const attack = head('/held') + head('/health/live', `X: ${PADDING}\r\n`).repeat(10);
    const attackers = await Promise.all(Array.from({ length: 600 }, () => from('127.0.0.1', attack)));
    for (const socket of attackers) socket.resume();
    await expect.poll(() => attackers.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(100);
    open();
    expect((await Promise.all(responses)).map(statusesIn)).toEqual(responses.map(() => [404, 200, 200]));
    expect(attackers.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(100);
  });
});
