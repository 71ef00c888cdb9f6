import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { Controller, type MessageEvent, Module, Sse } from '@nestjs/common';
import { Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connections } from '../../src/http/server/connections.js';
import { stopServing } from '../../src/http/server/graceful-stop.js';
import { TestService } from '../kit/test-service.js';
import { listening } from '../support/raw-http.js';
import { described } from '../support/described.js';

const EVENTS = new EventEmitter();

@Controller({ path: 'news', version: '1' })
class NewsController {
  @Sse()
  @described('news', { contentType: 'text/event-stream' })
  news(): Observable<MessageEvent> {
    return new Observable((subscriber) => {
      const send = (data: string) => subscriber.next({ data });
      EVENTS.on('news', send);
      EVENTS.emit('opened');
      return () => {
        EVENTS.off('news', send);
        EVENTS.emit('closed');
      };
    });
  }
}

@Module({ controllers: [NewsController] })
class NewsModule {}

describe('server-sent events', () => {
  let service: TestService;
  const open = (environment = {}) => TestService.open({ modules: [NewsModule], environment });
  beforeEach(async () => {
    service = await open({ RESPONSE_TIMEOUT_MS: '1000', HEADERS_TIMEOUT_MS: '1000' });
  });
  afterEach(() => service.close());

  async function subscribe() {
    const { socket, received } = listening(service.url);
    const opened = once(EVENTS, 'opened');
    socket.write(
      `GET /v1/news HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${service.key}\r\n\r\n`,
    );
    await opened;
    await expect.poll(received).toContain('text/event-stream');
    return { socket, received };
  }

  it('need a key, and count', async () => {
    expect((await service.request('GET', '/v1/news', { key: null })).status).toBe(401);
    const { received } = await subscribe();
    expect(received()).toMatch(/X-RateLimit-Remaining: 999/i);
  });

  it('stay open without any data: no time limit of HTTP ends them', async () => {
    const { socket, received } = await subscribe();
    const slow = listening(service.url);
    slow.socket.write('GET /health/live HTTP/1.1\r\n');
    await expect.poll(slow.received).toMatch(/^HTTP\/1\.1 408 /);
    await expect.poll(() => performance.now() > 0 && !socket.destroyed).toBe(true);
    EVENTS.emit('news', 'still there');
    await expect.poll(received).toContain('data: still there');
  });

  it('get a comment when they have been quiet for 8 seconds, between two events', async () => {
    const { received } = await subscribe();
    EVENTS.emit('news', 'first');
    await expect.poll(received).toContain('data: first');
    const started = Date.now();
    const now = performance.now.bind(performance);
    // Each second counts as ten.
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 9 * (Date.now() - started));
    await expect.poll(received).toMatch(/data: first\n\n\r\n[^]*\r\n:\n\n\r\n/);
    EVENTS.emit('news', 'second');
    await expect.poll(received).toContain('data: second');
  });

  it('end with their client, and are logged and counted once', async () => {
    const { socket } = await subscribe();
    const closed = once(EVENTS, 'closed');
    socket.destroy();
    await closed;
    const counted = (labels = {}) => service.metric('http_requests_total', { route: '/v1/news', ...labels });
    await expect.poll(() => counted({ status: '200' })).toBe(1);
    expect(await counted()).toBe(1);
  });

  it('end with the service, immediately and as a complete response, even if a client reads nothing', async () => {
    await service.close();
    // On a busy machine, a second may pass before the client reads more.
    service = await open({ RESPONSE_TIMEOUT_MS: '10000' });
    const { received, socket } = await subscribe();
    const stuck = (await subscribe()).socket.pause();
    // More than the system takes for a client that does not read.
    EVENTS.emit('news', 'x'.repeat(20_000_000));
    await expect.poll(() => received().length).toBeGreaterThan(20_000_000);
    const closed = once(socket, 'close');
    const started = performance.now();
    const stopped = stopServing(service.app.getHttpServer() as Server, service.app.get(Connections), 60_000);
    EVENTS.emit('news', 'too late, or just in time');
    expect(await stopped).toBe(true);
    EVENTS.emit('news', 'too late');
    await closed;
    stuck.destroy();
    expect(received()).toMatch(/\r\n0\r\n\r\n$/);
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
