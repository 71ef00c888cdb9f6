import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { TestService } from '../kit/test-service.js';
import { describeRefusals } from '../support/refusal-table.js';

describeRefusals({});

async function open(environment = {}): Promise<TestService> {
  const service = await TestService.open({ environment });
  onTestFinished(() => service.close());
  return service;
}

describe('where no key is needed', () => {
  const without = { key: null };

  it.each([
    ['GET', '/wp-login.php', 404],
    ['GET', '/V1/pets', 404],
    ['GET', '//v1/pets', 404],
    ['GET', '/%zz', 400],
    ['GET', '/health/nothing', 404],
    ['POST', '/health/live', 405],
    ['GET', '/docs/nothing', 404],
    ['POST', '/docs', 405],
    ['GET', '/console/nothing', 404],
    ['DELETE', '/console/console.js', 405],
  ])(
    'a refusal counts for the address, with a line of the log until its limit: %s %s',
    async (method, path, status) => {
      const service = await open({ LOG_LEVEL: 'info' });
      const logged = vi.spyOn(service.app.get(AppLogger).pino, 'info').mockReturnValue(undefined);
      const ask = () => service.request(method, path, without);
      for (let left = 59; left >= 0; left -= 1) {
        const { status: answered, headers } = await ask();
        expect([answered, headers.get('x-ratelimit-remaining')]).toEqual([status, String(left)]);
      }
      for (let sent = 0; sent < 5; sent += 1) {
        const { status: answered, body, headers } = await ask();
        expect([answered, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limit_exceeded', '50']);
      }
      expect(logged).toHaveBeenCalledTimes(61);
      // What anybody may read stays free, and so does a valid key.
      for (const free of ['/health/live', '/health/ready', '/docs', '/docs/openapi.json', '/console/'])
        expect((await service.request('GET', free, without)).status, free).toBe(200);
      expect((await service.request('GET', '/v1/pets')).status).toBe(200);
      service.clock.advance(60_000);
      expect((await ask()).status).toBe(status);
    },
  );

  it.each([
    '/health/live',
    '/health/ready',
    '/docs',
    '/docs/openapi.json',
    '/docs/swagger-ui.css',
    '/console',
    '/console/console.js',
  ])('%s takes GET and HEAD alone', async (path) => {
    const service = await open();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body, headers } = await service.request(method, path, without);
      expect([status, body.code, headers.get('allow')]).toEqual([
        405,
        'method_not_allowed',
        'GET, HEAD, OPTIONS',
      ]);
    }
    const { status, headers } = await service.request('OPTIONS', path, without);
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });
});
