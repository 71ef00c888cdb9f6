import { describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import type { KnownCount } from './known-counts.js';
import { divide, reportedVerdict, shareOf } from './shares.js';

const request: QuotaRequest = {
  subject: 'client:a',
  isClient: true,
  keyId: 'key',
  windows: [
    { key: 'client:a', name: 'minute', limit: 100, lengthMs: MINUTE_MS },
    { key: 'client:a', name: 'day', limit: 1_000, lengthMs: DAY_MS },
  ],
};

const known = (seen: number, handedOver = 0) => ({ seen, handedOver }) as KnownCount;

describe('what an instance may admit alone', () => {
  it.each([
    ['its part of each limit where nothing is known', [], 3, [33, 333]],
    ['its part of what was left', [known(40), known(400)], 3, [20, 200]],
    ['one where less than one for each was left', [known(99), known(999)], 3, [1, 1]],
    ['nothing where nothing was left', [known(100), known(1_000)], 1, [0, 0]],
    ['nothing where more than the limit was used', [known(120), known(1_001)], 1, [0, 0]],
    ['all that was left where it is alone', [known(99), known(0)], 1, [1, 1_000]],
    ['and what it has admitted alone and told', [known(40, 7), known(1_000, 7)], 2, [37, 7]],
  ])('is %s', (_, counts, instances, expected) => {
    const share = shareOf(request, counts, instances);
    expect(share.windows.map(({ limit }) => limit)).toEqual(expected);
    expect(share).toEqual({
      ...request,
      windows: request.windows.map((window, index) => ({ ...window, limit: expected[index] })),
    });
  });
});

describe('what was left when Redis failed', () => {
  it('is divided once, however much is learned before all instances are back, and anew at the next failure', () => {
    const count = known(40);
    const limit = () => shareOf(request, [count], 3).windows[0]?.limit;
    divide([count], 1);
    expect(limit()).toBe(20);
    // Twenty that were admitted alone are told Redis, and others have told theirs.
    count.handedOver = 20;
    count.seen = 80;
    divide([count], 1);
    expect(limit()).toBe(20);
    divide([count], 2);
    expect(limit()).toBe(20 + 6);
  });
});

describe('what is told of such a decision', () => {
  const minute = { name: 'minute', limit: 20, used: 5, remaining: 15, lengthMs: MINUTE_MS, resetsAt: 1 };
  const verdict: QuotaVerdict = { admitted: true, at: 0, windows: [minute] };

  it('is the instance’s part of the plan, what remains as decided, and the rest as used', () => {
    expect(reportedVerdict(verdict, request, 3)).toEqual({
      ...verdict,
      windows: [{ ...minute, limit: 33, used: 18 }],
    });
  });

  it('is a limit of at least one', () => {
    const one = { ...request, windows: request.windows.map((window) => ({ ...window, limit: 1 })) };
    const refused = {
      ...verdict,
      admitted: false,
      windows: [{ ...minute, limit: 0, used: 0, remaining: 0 }],
    };
    expect(reportedVerdict(refused, one, 3)).toEqual({
      ...refused,
      windows: [{ ...minute, limit: 1, used: 1, remaining: 0 }],
    });
  });
});
