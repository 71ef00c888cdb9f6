import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { REDIS_URL, describeWith } from '../support/requirements.js';
import { TestService } from '../kit/test-service.js';
import { removeRedisKeysAtEnd } from '../support/redis-keys.js';
import { openForTest } from '../support/opened.js';

removeRedisKeysAtEnd();

type Weather = 'fair' | 'slow' | 'garbage' | 'refusing';

/** Stands between the service and the real Redis, and makes what trouble a network makes; test/processes/redis-faults.spec.ts has that of Redis. */
class Proxy {
  weather: Weather = 'fair';
  private readonly sockets = new Set<Socket>();
  private constructor(private readonly server: Server) {}

  static async open(): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server);
    server.on('connection', (socket) => proxy.serve(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      proxy.cut();
      server.close();
    });
    return proxy;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `redis://127.0.0.1:${port}${new URL(REDIS_URL).pathname}`;
  }

  /** Closes every connection, as a Redis that stops does. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(down: Socket): void {
    if (this.weather === 'refusing') {
      down.destroy();
      return;
    }
    const { hostname, port } = new URL(REDIS_URL);
    const up = connect(Number(port || 6379), hostname);
    for (const socket of [down, up]) {
      this.sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          this.sockets.delete(socket);
          down.destroy();
          up.destroy();
        });
    }
    down.on('data', (bytes) => up.write(bytes));
    up.on('data', (bytes) => this.answer(bytes, down));
  }

  private answer(bytes: Buffer, down: Socket): void {
    if (this.weather === 'slow') setTimeout(() => down.write(bytes), 3 * LIMIT_MS).unref();
    else if (this.weather === 'garbage') down.write('HTTP/1.1 200 OK\r\n\r\nhello');
    else down.write(bytes);
  }
}

/** Longest that a request waits for Redis, in milliseconds: enough for a healthy one on the slowest machine. */
const LIMIT_MS = 2_000;
/** Longest pause between two attempts to come back, and time for a machine that is busy, in milliseconds. */
const BACK_WITHIN = { timeout: 120_000 };

async function open(redisUrl: string): Promise<TestService> {
  return openForTest({
    plan: 'pro',
    environment: { REDIS_URL: redisUrl, REDIS_TIMEOUT_MS: String(LIMIT_MS) },
  });
}

const left = ({ headers }: { headers: Headers }) =>
  Number(/"minute";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
const isUp = (service: TestService) => service.metric('petstore_quota_redis_up');

describeWith('redis', 'quotas in Redis', () => {
  // Instances of the test before this one would count as neighbours for some seconds.
  beforeEach(async () => {
    const redis = new Redis(REDIS_URL);
    await redis.del('petstore:quota:instances');
    redis.disconnect();
  });

  it.each([
    ['is gone', (proxy: Proxy) => ((proxy.weather = 'refusing'), proxy.cut())],
    ['slows down', (proxy: Proxy) => (proxy.weather = 'slow')],
    ['answers garbage', (proxy: Proxy) => (proxy.weather = 'garbage')],
  ])(
    'when Redis %s, no request fails, counting goes on where it was, and resumes in Redis by itself',
    async (_, trouble) => {
      const proxy = await Proxy.open();
      const service = await open(proxy.url);
      await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
      expect(left(await service.request('GET', '/v1/pets'))).toBe(299);
      trouble(proxy);
      for (let sent = 1; sent <= 20; sent += 1) {
        const answer = await service.request('GET', '/v1/pets');
        expect(answer.status).toBe(200);
        expect(left(answer)).toBeLessThanOrEqual(299 - sent);
      }
      expect(await isUp(service)).toBe(0);
      expect(await service.metric('petstore_quota_redis_changes_total', { to: 'alone' })).toBeGreaterThan(0);
      proxy.weather = 'fair';
      await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
      // What Redis answered too late, it has counted all the same.
      const after = left(await service.request('GET', '/v1/pets'));
      expect(after).toBeLessThanOrEqual(278);
      expect(after).toBeGreaterThan(268);
    },
  );

  it('a ban that cannot be lifted while Redis is away is a 503 that says when to try again', async () => {
    const proxy = await Proxy.open();
    const service = await open(proxy.url);
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
    const { id } = await service.issueKey();
    const { key } = await service.issueKey({ scopes: ['admin'] });
    const unban = () => service.request('POST', `/admin/keys/${id}/unban`, { key });
    expect((await unban()).status).toBe(200);
    proxy.weather = 'refusing';
    proxy.cut();
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(0);
    const refused = await unban();
    expect(refused.body).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it('a script that Redis has lost is sent again', async () => {
    const service = await open(REDIS_URL);
    expect(left(await service.request('GET', '/v1/pets'))).toBe(299);
    const redis = new Redis(REDIS_URL);
    await redis.script('FLUSH');
    redis.disconnect();
    expect(left(await service.request('GET', '/v1/pets'))).toBe(298);
    expect(await isUp(service)).toBe(1);
  });
});
