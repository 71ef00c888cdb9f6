import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type INestApplication, Module } from '@nestjs/common';
import { WsAdapter } from '@nestjs/platform-ws';
import {
  MessageBody,
  type OnGatewayConnection,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import { io } from 'socket.io-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Public } from '../../src/auth/auth.decorators.js';
import { type Caller, callerOf } from '../../src/auth/caller.js';
import { Connections } from '../../src/http/server/connections.js';
import { stopServing } from '../../src/http/server/graceful-stop.js';
import type { TestService } from '../kit/test-service.js';
import { freePort } from '../support/free-port.js';
import { openForAll, openForTest } from '../support/opened.js';
import { listening, openSocket, parseRaw, sendRaw } from '../support/raw-http.js';

let callers: (Caller | undefined)[] = [];

abstract class Gateway {
  @SubscribeMessage('echo')
  echo(@MessageBody() text: string): { event: string; data: string } {
    return { event: 'echo', data: text };
  }
}

@WebSocketGateway({ path: '/v1/chat', maxPayload: 1_000 })
@Public()
class ChatGateway extends Gateway implements OnGatewayConnection {
  handleConnection(_client: WebSocket, request: IncomingMessage): void {
    callers.push(callerOf(request));
  }
}

@WebSocketGateway()
@Public()
class RootGateway extends Gateway {}

@WebSocketGateway({ namespace: 'events' })
@Public()
class EventsGateway extends Gateway {}

@Module({ providers: [ChatGateway, RootGateway] })
class ChatModule {}

@Module({ providers: [EventsGateway] })
class EventsModule {}

const withWs = {
  modules: [ChatModule],
  prepare: (app: INestApplication) => app.useWebSocketAdapter(new WsAdapter(app)),
};

async function connect(service: TestService, path: string): Promise<WebSocket> {
  const socket = new WebSocket(service.url.replace('http', 'ws') + path);
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function echoOf(socket: WebSocket): Promise<unknown> {
  socket.send(JSON.stringify({ event: 'echo', data: 'hello' }));
  const [message] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(String(message));
}

const UPGRADE = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
const NOT_UPGRADED = {
  status: 400,
  body: { code: 'malformed_request', message: expect.stringMatching(/omit the Upgrade header/) },
};

describe('a gateway of the WsAdapter', async () => {
  const service = await openForAll(withWs);

  it.each([
    ['/v1/chat', [undefined]],
    ['/', []],
  ])('is open to everybody, outside of keys and quotas: %s', async (path, known) => {
    callers = [];
    const counted = () => service.metric('petstore_quota_verdicts_total');
    const before = await counted();
    const socket = await connect(service, path);
    expect(await echoOf(socket)).toEqual({ event: 'echo', data: 'hello' });
    expect(callers).toEqual(known);
    expect(await counted()).toBe(before);
  });

  it('keeps its maxPayload', async () => {
    const socket = await connect(service, '/v1/chat');
    const closed = once(socket, 'close');
    socket.send('x'.repeat(1_001));
    expect((await closed)[0]).toBe(1009);
  });

  it.each([
    ['the path of no gateway', `GET /v1/other HTTP/1.1\r\n${UPGRADE}\r\n`],
    [
      'another protocol, as clients of HTTP/2 offer it',
      'GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    ],
  ])('refuses with the Error body what no gateway accepts: %s', async (_, request) => {
    const received = await sendRaw(service.url, request);
    expect(parseRaw(received)).toMatchObject(NOT_UPGRADED);
    expect(received).toMatch(/X-RateLimit-Limit: 60\r\n[^]*Connection: close\r\n/);
  });

  it.each([
    ['two Hosts', `GET /v1/chat HTTP/1.1\r\nHost: b\r\n${UPGRADE}\r\n`, /more than one Host/],
    ['a fragment', `GET /v1/chat#a HTTP/1.1\r\n${UPGRADE}\r\n`, /has a fragment/],
    [
      'a Host that is none',
      `GET /v1/chat HTTP/1.1\r\n${UPGRADE.replace('Host: a', 'Host: a b')}\r\n`,
      /its Host is not/,
    ],
  ])('refuses a malformed request: %s', async (_, request, message) => {
    const { status, body } = parseRaw(await sendRaw(service.url, request));
    expect([status, body]).toEqual([
      400,
      { code: 'malformed_request', status: 400, message: expect.stringMatching(message) },
    ]);
  });

  it('refuses, in its turn, what is pipelined behind a request', async () => {
    const received = await sendRaw(
      service.url,
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n\r\n` +
        `GET /v1/chat HTTP/1.1\r\n${UPGRADE}\r\n`,
    );
    expect(received).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 [^]*malformed_request/);
  });

  it('survives clients that disconnect before they are upgraded or refused', async () => {
    for (const path of ['/v1/chat', '/v1/other']) {
      const socket = await openSocket(service.url);
      socket.write(`GET ${path} HTTP/1.1\r\n${UPGRADE}\r\n`);
      socket.resetAndDestroy();
    }
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
    expect(await echoOf(await connect(service, '/v1/chat'))).toMatchObject({ data: 'hello' });
  });
});

it('a gateway on its own port starts as in plain Nest', async () => {
  const port = await freePort();
  @WebSocketGateway(port)
  @Public()
  class SideGateway extends Gateway {}
  @Module({ providers: [SideGateway] })
  class SideModule {}
  await openForTest({ ...withWs, modules: [SideModule] });
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  expect(await echoOf(socket)).toEqual({ event: 'echo', data: 'hello' });
});

describe('a gateway of Socket.IO, the adapter by default', async () => {
  const service = await openForAll({ modules: [EventsModule] });

  it.each(['websocket', 'polling'])(
    'is open to everybody, and the API needs its key: %s',
    async (transport) => {
      const client = io(`${service.url}/events`, { transports: [transport] });
      onTestFinished(() => void client.close());
      const echoed = new Promise((resolve) => void client.once('echo', resolve));
      client.emit('echo', 'hello');
      expect(await echoed).toBe('hello');
      expect(client.io.engine.transport.name).toBe(transport);
      expect((await service.request('GET', '/v1/pets')).status).toBe(200);
      expect((await service.request('GET', '/v1/pets', { key: null })).status).toBe(401);
    },
  );

  it('leaves what it does not accept to the service, which refuses it with the Error body', async () => {
    const received = await sendRaw(service.url, `GET /v1/other HTTP/1.1\r\n${UPGRADE}\r\n`);
    expect(parseRaw(received)).toMatchObject(NOT_UPGRADED);
  });
});

it('an upgrade that no listener handles is refused, also on a connection that was used before', async () => {
  const service = await openForTest();
  const server = service.app.getHttpServer() as Server;
  const offered = new Promise<void>((resolve) => server.on('upgrade', () => resolve()));
  const { socket, received, closed } = listening(service.url);
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  socket.write(`GET /v1/other HTTP/1.1\r\n${UPGRADE}\r\n`);
  await offered;
  vi.advanceTimersByTime(9_999);
  expect(received()).not.toContain('400');
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 [^]*omit the Upgrade header/);
});

describe('when the service stops', () => {
  it('a WebSocket delays nothing, even if its client does not respond, and gets 1001, going away', async () => {
    const service = await openForTest(withWs);
    const socket = await connect(service, '/v1/chat');
    (await connect(service, '/v1/chat')).pause();
    const closed = once(socket, 'close');
    expect(
      await stopServing(service.app.getHttpServer() as Server, service.app.get(Connections), 60_000),
    ).toBe(true);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    await service.app.close();
    expect((await closed)[0]).toBe(1001);
  });

  it('a client of Socket.IO is disconnected', async () => {
    const service = await openForTest({ modules: [EventsModule] });
    const client = io(`${service.url}/events`, { transports: ['websocket'], reconnection: false });
    onTestFinished(() => void client.close());
    await new Promise<void>((resolve) => void client.once('connect', resolve));
    const disconnected = new Promise((resolve) => void client.once('disconnect', resolve));
    expect(
      await stopServing(service.app.getHttpServer() as Server, service.app.get(Connections), 60_000),
    ).toBe(true);
    await service.app.close();
    await disconnected;
  });
});
