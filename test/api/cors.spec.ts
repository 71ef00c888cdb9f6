import { describe, expect, it } from 'vitest';
import { TestService } from '../kit/test-service.js';
import { openForAll } from '../support/opened.js';

const SHOP = 'https://shop.example';
const service = await openForAll({ environment: { CORS_ORIGINS: `${SHOP},http://localhost:5173` } });
const closed = await openForAll();

const preflight = (at: TestService, origin: string) =>
  fetch(`${at.url}/v1/pets`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

describe('a browser page of another origin', () => {
  it('is allowed by a preflight without a key, if its origin is listed', async () => {
    const { status, headers } = await preflight(service, SHOP);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(SHOP);
    for (const method of ['POST', 'PATCH', 'DELETE'])
      expect(headers.get('access-control-allow-methods')?.split(',')).toContain(method);
    expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type');
    expect(headers.get('access-control-max-age')).toBe('600');
  });

  it('may read the response headers of the service, also of refusals', async () => {
    for (const [key, expected] of [
      [service.key, 200],
      [null, 401],
    ] as const) {
      const { status, headers } = await service.request('GET', '/v1/pets', {
        key,
        headers: { origin: SHOP },
      });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([expected, SHOP]);
      expect(headers.get('access-control-expose-headers')?.split(',')).toEqual([
        'Link',
        'Location',
        'ETag',
        'Retry-After',
        'X-Request-Id',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'RateLimit',
        'RateLimit-Policy',
        'Deprecation',
        'Sunset',
        'Idempotent-Replayed',
      ]);
    }
  });

  it.each([
    ['is not listed', () => preflight(service, 'https://evil.example')],
    ['is not listed because none is', () => preflight(closed, SHOP)],
  ])('is not allowed if its origin %s', async (_, send) => {
    expect((await send()).headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe.each([
  ['where no page of another origin is let in', closed],
  ['where some are', service],
])('OPTIONS that is no preflight, %s', (_, at) => {
  it('returns the methods of a path to a caller with a key, and counts', async () => {
    const { status, headers } = await at.request('OPTIONS', '/v1/pets');
    expect([status, headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(
      Number(headers.get('x-ratelimit-limit')),
    );
    expect((await at.request('OPTIONS', '/health/live')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect((await at.request('OPTIONS', '/v1/nothing')).status).toBe(404);
    expect((await at.request('OPTIONS', '/v1/pets', { key: null })).status).toBe(401);
  });
});
