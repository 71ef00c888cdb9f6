import { describe, expect, it } from 'vitest';
import { AddressLines, QuotaThresholds } from './quota-reports.js';

describe('AddressLines', () => {
  it('counts by address and minute, and all addresses beyond a bound together', () => {
    const lines = new AddressLines();
    const count = (id: string, at = 0) => lines.count({ id, plan: 'anonymous', perMinute: 60 }, at);
    expect([count('a'), count('b'), count('a')]).toEqual([1, 1, 2]);
    for (let at = 0; at < 10_000; at += 1) count(`of many ${at}`);
    expect([count('a'), count('c'), count('d')]).toEqual([3, 3, 4]);
    expect([count('a', 60_000), count('d', 60_000), count('a', 119_999)]).toEqual([1, 1, 2]);
  });
});

describe('QuotaThresholds', () => {
  /** A request: how much of which limit is used after it, and the thresholds that it reports. */
  type Step = readonly [used: number, limit: number, reported: readonly number[]];

  it.each<[string, readonly Step[]]>([
    ['nothing below 80 %', [[79, 100, []]]],
    [
      '80 % once',
      [
        [80, 100, [80]],
        [81, 100, []],
        [99, 100, []],
      ],
    ],
    [
      '100 % after 80 %, once',
      [
        [80, 100, [80]],
        [100, 100, [100]],
        [101, 100, []],
        [100, 100, []],
      ],
    ],
    [
      'both if one request reaches both',
      [
        [100, 100, [80, 100]],
        [100, 100, []],
      ],
    ],
    [
      'them again for another limit',
      [
        [100, 100, [80, 100]],
        [100, 120, [80]],
        [120, 120, [100]],
        [120, 120, []],
      ],
    ],
    [
      '80 % rounded up to a request',
      [
        [2, 3, []],
        [3, 3, [80, 100]],
      ],
    ],
  ])('reports %s', (_what, steps) => {
    const thresholds = new QuotaThresholds();
    const report = (used: number, limit: number) =>
      thresholds
        .reached('a', {
          name: 'minute',
          used,
          limit,
          remaining: limit - used,
          lengthMs: 60_000,
          resetsAt: 60_000,
        })
        .map(({ percent }) => percent);
    for (const [used, limit, reported] of steps) expect(report(used, limit)).toEqual(reported);
  });

  it('reports them for each client, for each kind of window, and in each window', () => {
    const thresholds = new QuotaThresholds();
    const report = (clientId: string, name: 'minute' | 'day', resetsAt: number) =>
      thresholds.reached(clientId, { name, used: 80, limit: 100, remaining: 20, lengthMs: 60_000, resetsAt });
    expect(report('a', 'minute', 60_000)).toEqual([
      {
        clientId: 'a',
        window: 'minute',
        percent: 80,
        limit: 100,
        used: 80,
        resetsAt: '1970-01-01T00:01:00.000Z',
      },
    ]);
    const others = [
      report('b', 'minute', 60_000),
      report('a', 'day', 86_400_000),
      report('a', 'minute', 60_000),
      report('a', 'minute', 120_000),
      report('a', 'day', 86_400_000),
    ];
    expect(others.map(({ length }) => length)).toEqual([1, 1, 0, 1, 0]);
  });
});
