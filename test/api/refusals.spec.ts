import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { describeRefusals } from '../support/refusal-table.js';
import { openForAll } from '../support/opened.js';

describeRefusals({});

describe('where no key is needed', async () => {
  const without = { key: null };
  const service = await openForAll({ environment: { LOG_LEVEL: 'info' } });
  beforeEach(() => service.clock.advance(60_000));

  it.each([
    ['GET', '/V1/pets', 404],
    ['GET', '//v1/pets', 404],
    ['GET', '/%zz', 400],
    ['GET', '/health/nothing', 404],
    ['POST', '/health/live', 405],
    ['GET', '/docs/nothing', 404],
    ['POST', '/docs', 405],
    ['GET', '/console/nothing', 404],
    ['DELETE', '/console/console.js', 405],
  ])('a refusal counts for the address: %s %s', async (method, path, status) => {
    for (const left of ['59', '58']) {
      const refused = await service.request(method, path, without);
      expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([status, left]);
    }
  });

  it('a refusal has a line of the log until the limit of the address, and what is free stays so', async () => {
    const logged = vi.spyOn(service.app.get(AppLogger).pino, 'info').mockReturnValue(undefined);
    const request = () => service.request('GET', '/wp-login.php', without);
    for (let sent = 0; sent < 60; sent += 1) expect((await request()).status).toBe(404);
    for (let sent = 0; sent < 5; sent += 1) {
      const { status, body, headers } = await request();
      expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '50']);
    }
    expect(logged).toHaveBeenCalledTimes(61);
    for (const free of ['/health/live', '/health/ready', '/docs', '/docs/openapi.json', '/console/'])
      expect((await service.request('GET', free, without)).status, free).toBe(200);
    expect((await service.request('GET', '/v1/pets')).status).toBe(200);
    service.clock.advance(60_000);
    expect((await request()).status).toBe(404);
  });
});
