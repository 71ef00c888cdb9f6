import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { type INestApplication, Injectable, type CanActivate, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { WsAdapter } from '@nestjs/platform-ws';
import {
  MessageBody,
  type OnGatewayConnection,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { defineScopes } from '../../src/auth/clients/scopes.js';
import { Public, RequireScopes } from '../../src/auth/auth.decorators.js';
import { type Caller, callerOf } from '../../src/auth/caller.js';
import { Connections } from '../../src/http/adapter/connections.js';
import { stopServing } from '../../src/http/adapter/graceful-stop.js';
import { openSocket, sendRaw } from '../support/raw-http.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';

const SCOPES = defineScopes('chats', { read: 'Read chats.', moderate: 'Moderate chats.' });

let callers: (Caller | undefined)[] = [];

abstract class Gateway implements OnGatewayConnection {
  handleConnection(_client: WebSocket, request: IncomingMessage): void {
    callers.push(callerOf(request));
  }

  @SubscribeMessage('echo')
  echo(@MessageBody() text: string): { event: string; data: string } {
    return { event: 'echo', data: text };
  }
}

@WebSocketGateway({ path: '/v1/chat' })
class ChatGateway extends Gateway {}

@WebSocketGateway({ path: '/v1/moderated' })
@RequireScopes(SCOPES.moderate)
class ModeratedGateway extends Gateway {}

@WebSocketGateway({ path: '/v1/open' })
@Public()
class OpenGateway extends Gateway {}

@WebSocketGateway({ path: '/v1/mistaken' })
class MistakenGateway extends Gateway {
  @SubscribeMessage('clear')
  @RequireScopes(SCOPES.moderate)
  clear(): { event: string; data: string } {
    return { event: 'cleared', data: '' };
  }
}

@Module({ providers: [ChatGateway, ModeratedGateway, OpenGateway, MistakenGateway] })
class ChatModule {}

const useWebSockets = (app: INestApplication) => app.useWebSocketAdapter(new WsAdapter(app));

const open = (options: TestServiceOptions = {}) =>
  TestService.open({ modules: [ChatModule], prepare: useWebSockets, ...options });

/** Opens a WebSocket, or answers how it was refused. */
async function connect(service: TestService, path: string, key: string | null = service.key) {
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  const socket = new WebSocket(service.url.replace('http', 'ws') + path, { headers });
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  const refusal = new Promise<{
    status: number | undefined;
    headers: IncomingMessage['headers'];
    body: unknown;
  }>((resolve) =>
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += String(piece)));
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: JSON.parse(text) }),
      );
    }),
  );
  return Promise.race([once(socket, 'open').then(() => ({ socket, status: 101 })), refusal]);
}

async function echoOf(socket: WebSocket, event = 'echo'): Promise<unknown> {
  socket.send(JSON.stringify({ event, data: 'hello' }));
  const [message] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(String(message));
}

function opened(answer: Awaited<ReturnType<typeof connect>>): WebSocket {
  if ('socket' in answer) return answer.socket;
  throw new Error(`Refused with ${answer.status}.`);
}

describe('a WebSocket', async () => {
  const service = await open();
  afterAll(() => service.close());

  it('is opened by a key, and its gateway knows the caller', async () => {
    callers = [];
    const socket = opened(await connect(service, '/v1/chat'));
    expect(callers).toEqual([expect.objectContaining({ clientId: service.clientId })]);
    expect(await echoOf(socket)).toEqual({ event: 'echo', data: 'hello' });
  });

  it('counts as one request, whatever is sent in it, and is logged and counted once', async () => {
    const left = async () =>
      Number((await service.request('GET', '/v1/pets')).headers.get('x-ratelimit-remaining'));
    const before = await left();
    const socket = opened(await connect(service, '/v1/chat'));
    for (let sent = 0; sent < 5; sent += 1) await echoOf(socket);
    expect(before - (await left())).toBe(2);
    const labels = { route: '/v1/chat', status: '101' };
    expect(await service.metric('http_requests_total', labels)).toBe(2);
  });

  it.each([
    ['without a key', '/v1/chat', null, 401, 'missing_api_key'],
    ['with a wrong key', '/v1/chat', 'pst_test_x', 401, 'invalid_api_key'],
    ['with a target that is too long', `/v1/chat?${'x'.repeat(9_000)}`, undefined, 414, 'uri_too_long'],
  ])('is refused %s, in HTTP', async (_, path, key, status, code) => {
    const answer = await connect(service, path, key);
    expect(answer).toMatchObject({
      status,
      body: { code, status, message: expect.any(String) },
      headers: {
        'content-type': 'application/json; charset=utf-8',
        connection: 'close',
        'x-request-id': expect.any(String),
        'x-ratelimit-limit': expect.any(String),
        ...(status === 401 ? { 'www-authenticate': expect.stringContaining('Bearer') } : {}),
      },
    });
  });

  it('needs the scopes of its gateway', async () => {
    expect(
      await connect(service, '/v1/moderated', (await service.issueKey({ scopes: ['chats:read'] })).key),
    ).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    const { key } = await service.issueKey({ scopes: ['chats:moderate'] });
    expect(await echoOf(opened(await connect(service, '/v1/moderated', key)))).toMatchObject({
      data: 'hello',
    });
  });

  it.each(['/v1/x/../moderated', '//a/v1/moderated', '/v1\\moderated', '/./v1/moderated?a=1'])(
    'needs them however its path is written: %s',
    async (path) => {
      const { key } = await service.issueKey({ scopes: ['chats:read'] });
      const socket = await openSocket(service.url);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: Upgrade\r\n` +
          'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      );
      expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 403 [^]*insufficient_scope/);
    },
  );

  it('cannot ask for scopes by message: such a message is refused, not passed', async () => {
    const socket = opened(await connect(service, '/v1/mistaken'));
    expect(await echoOf(socket)).toMatchObject({ event: 'echo' });
    expect(await echoOf(socket, 'clear')).toMatchObject({ event: 'exception' });
  });

  it('that is asked for before the request before it is answered is refused in its turn', async () => {
    const key = `Authorization: Bearer ${service.key}\r\n`;
    const received = await sendRaw(
      service.url,
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${key}\r\n` +
        `GET /v1/chat HTTP/1.1\r\nHost: a\r\n${key}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(received).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 400 [^]*malformed_request/);
  });

  it('is the one protocol of gateways: an offer of another is refused in HTTP', async () => {
    const received = await sendRaw(
      service.url,
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\n` +
        'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n',
    );
    expect(received).toMatch(/^HTTP\/1\.1 400 [^]*malformed_request[^]*upgraded to h2c here; omit Upgrade/);
  });

  it('is refused with 429 and Retry-After once the quota is used', async () => {
    const small = await open({ plan: 'enterprise', limits: { perMinute: 3, perDay: 100 } });
    onTestFinished(() => small.close());
    const statuses = [];
    for (let sent = 0; sent < 5; sent += 1) statuses.push((await connect(small, '/v1/chat')).status);
    expect(statuses).toEqual([101, 101, 101, 429, 429]);
    const refused = await connect(small, '/v1/chat');
    expect(refused).toMatchObject({
      body: { code: 'rate_limit_exceeded' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
  });
});

describe('a guard of a module', () => {
  it('is asked, too, and refuses with 403', async () => {
    @Injectable()
    class NobodyGuard implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }
    @Module({ providers: [{ provide: APP_GUARD, useClass: NobodyGuard }] })
    class NobodyModule {}
    const service = await open({ modules: [ChatModule, NobodyModule] });
    onTestFinished(() => service.close());
    expect(await connect(service, '/v1/chat')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});

it('of a library that takes requests before the guards, such as Socket.IO for long polling, stops the start', async () => {
  class LongPolling extends WsAdapter {
    override create(...options: Parameters<WsAdapter['create']>): unknown {
      (this.httpServer as Server)
        .removeAllListeners('request')
        .on('request', (_, response) => response.end());
      return super.create(...options) as unknown;
    }
  }
  const prepare = (app: INestApplication) => app.useWebSocketAdapter(new LongPolling(app));
  await expect(open({ prepare })).rejects.toThrow(/takes over the requests of the server.*use the WsAdapter/);
});

describe('when the service stops', () => {
  it('a WebSocket delays nothing, also where its client answers nothing, and is told so: 1001, going away', async () => {
    const service = await open();
    const socket = opened(await connect(service, '/v1/chat'));
    opened(await connect(service, '/v1/chat')).pause();
    const closed = once(socket, 'close');
    expect(
      await stopServing(service.app.getHttpServer() as Server, service.app.get(Connections), 60_000),
    ).toBe(true);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    await service.app.close();
    expect((await closed)[0]).toBe(1001);
  });
});
