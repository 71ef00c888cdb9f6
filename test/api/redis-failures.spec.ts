import { expect, it, onTestFinished } from 'vitest';
import { NetworkProxy } from '../support/network-proxy.js';
import { openForTest } from '../support/opened.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { TestService } from '../kit/test-service.js';

// How Redis itself fails is in test/processes/redis-faults.spec.ts.

/** Maximum time that a request waits for Redis, in milliseconds: enough for a healthy one on the slowest machine. */
const LIMIT_MS = 2_000;
/** Maximum pause between two attempts to come back, and time for a machine that is busy, in milliseconds. */
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

describeWith('redis-server', 'quotas in Redis', () => {
  it('when Redis returns garbage, no request fails, this instance counts alone, and counting resumes in Redis', async () => {
    const proxy = await NetworkProxy.to((await RedisServer.ofTest()).port);
    onTestFinished(() => proxy.close());
    const service = await open(`redis://127.0.0.1:${proxy.port}`);
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
    expect(left(await service.request('GET', '/v1/pets'))).toBe(299);
    proxy.response = 'HTTP/1.1 200 OK\r\n\r\nhello';
    for (let sent = 1; sent <= 20; sent += 1) {
      const response = await service.request('GET', '/v1/pets');
      expect([response.status, left(response)]).toEqual([200, 300 - sent]);
    }
    expect(await isUp(service)).toBe(0);
    expect(await service.metric('petstore_quota_redis_changes_total', { to: 'alone' })).toBeGreaterThan(0);
    proxy.response = undefined;
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
    // Redis has counted the requests to which it responded too late.
    expect(left(await service.request('GET', '/v1/pets'))).toBeOneOf([297, 298]);
  });

  it('a ban that cannot be lifted while Redis is away is a 503 that says why, and when to try again', async () => {
    const redis = await RedisServer.ofTest();
    const service = await open(redis.url);
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(1);
    const { id } = await service.issueKey();
    const { key } = await service.issueKey({ scopes: ['admin'] });
    const unban = () => service.request('POST', `/admin/keys/${id}/unban`, { key });
    expect((await unban()).status).toBe(200);
    await redis.kill();
    await expect.poll(() => isUp(service), BACK_WITHIN).toBe(0);
    const refused = await unban();
    expect(refused.body).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      message: expect.stringContaining('the ban cannot be lifted while Redis is unavailable') as string,
    });
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  it('a script that Redis has lost is sent again', async () => {
    const redis = await RedisServer.ofTest();
    const service = await open(redis.url);
    expect(left(await service.request('GET', '/v1/pets'))).toBe(299);
    redis.command('SCRIPT', 'FLUSH');
    expect(left(await service.request('GET', '/v1/pets'))).toBe(298);
    expect(await isUp(service)).toBe(1);
  });
});
