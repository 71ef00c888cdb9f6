import { describe, expect, it } from 'vitest';
import { quotaHeaders } from './quota-headers.js';
import { DAY_MS, MINUTE_MS, type QuotaVerdict } from './quota.js';

const AT = Date.parse('2026-11-20T12:00:29.250Z');
const verdict = (admitted: boolean, minuteLeft: number, dayLeft: number): QuotaVerdict => ({
  admitted,
  at: AT,
  windows: [
    {
      name: 'minute',
      limit: 60,
      lengthMs: MINUTE_MS,
      used: 60 - minuteLeft,
      remaining: minuteLeft,
      resetsAt: Date.parse('2026-11-20T12:01:00Z'),
    },
    {
      name: 'day',
      limit: 1000,
      lengthMs: DAY_MS,
      used: 1_000 - dayLeft,
      remaining: dayLeft,
      resetsAt: Date.parse('2026-11-21T00:00:00Z'),
    },
  ],
});

describe('the rate-limit headers', () => {
  it.each([
    ['the minute has fewer left', verdict(true, 12, 640), '60', '12', '1795176060', undefined],
    ['the day has fewer left', verdict(true, 12, 11), '1000', '11', '1795219200', undefined],
    ['both have as many: the day', verdict(true, 12, 12), '1000', '12', '1795219200', undefined],
    ['the minute is used up', verdict(false, 0, 640), '60', '0', '1795176060', '31'],
    ['the day is used up', verdict(false, 12, 0), '1000', '0', '1795219200', '43171'],
    ['both are: the day resets last', verdict(false, 0, 0), '1000', '0', '1795219200', '43171'],
  ])('%s', (_, given, limit, remaining, reset, retryAfter) => {
    const headers = quotaHeaders(given);
    expect(headers).toMatchObject({
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': remaining,
      'X-RateLimit-Reset': reset,
    });
    expect(headers['Retry-After']).toBe(retryAfter);
    expect(headers['RateLimit-Policy']).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
    const [minute, day] = given.windows;
    expect(headers.RateLimit).toBe(`"minute";r=${minute?.remaining};t=31, "day";r=${day?.remaining};t=43171`);
  });
});
