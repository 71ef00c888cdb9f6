import { describe, expect, it } from 'vitest';
import { AddressLines } from './quota-reports.js';

describe('AddressLines', () => {
  it('counts by address and minute, and all addresses beyond a bound together', () => {
    const lines = new AddressLines();
    const count = (id: string, at = 0) => lines.count({ id, plan: 'anonymous', perMinute: 60 }, at);
    expect([count('a'), count('b'), count('a')]).toEqual([1, 1, 2]);
    for (let at = 0; at < 10_000; at += 1) count(`of many ${at}`);
    expect([count('a'), count('c'), count('d')]).toEqual([3, 3, 4]);
    expect([count('a', 60_000), count('d', 60_000)]).toEqual([1, 1]);
  });
});
