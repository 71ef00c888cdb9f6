import { describe, expect, it } from 'vitest';
import { quotaHeaders } from './quota-headers.js';
import { DAY_MS, MINUTE_MS, type QuotaVerdict, type WindowState } from './quota.js';

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

  it.each([
    ['with room in both windows', verdict(false, 12, 640)],
    ['with the minute used up', verdict(false, 0, 640)],
    ['with the day used up', verdict(false, 12, 0)],
  ])('of a banned key agree on nothing until the end of the ban, %s', (_, given) => {
    expect(quotaHeaders({ ...given, bannedUntil: AT + 299_001 })).toEqual({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(Math.ceil((AT + 299_001) / 1000)),
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=0;t=300, "day";r=0;t=300',
      'Retry-After': '300',
    });
  });

  it('show the window that resets last when as many are left, even if it is the shorter one', () => {
    const [minute] = verdict(true, 0, 0).windows;
    const ofRoute = { ...minute, name: 'route', lengthMs: 7_000, resetsAt: AT + 40_000 } as WindowState;
    const headers = quotaHeaders({ admitted: true, at: AT, windows: [ofRoute, minute as WindowState] });
    expect(headers['X-RateLimit-Reset']).toBe(String(Math.ceil((AT + 40_000) / 1000)));
  });

  it('are none where nothing is counted', () => {
    expect(quotaHeaders({ admitted: true, at: AT, windows: [] })).toEqual({});
  });
});
