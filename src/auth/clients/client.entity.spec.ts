import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../core/errors/api-error.js';
import { LARGEST_LIMIT, PLANS, type Plan, type PlanLimits } from '../../throttling/plans.js';
import { planColumns } from './client.entity.js';

/** What is wrong with limits, as `field: code`; empty when they are taken. */
function faultsOf(plan: Plan, limits: Partial<PlanLimits>): string[] {
  try {
    planColumns(plan, limits);
    return [];
  } catch (error) {
    return (error as ApiError).faults.map(({ field, code }) => `${field}: ${code}`);
  }
}

describe('the limits of a client', () => {
  it.each(PLANS.filter((plan) => plan !== 'enterprise'))('are those of its plan: %s', (plan) => {
    expect(planColumns(plan, {})).toEqual({ perMinute: null, perDay: null });
    expect(faultsOf(plan, { perMinute: 1 })).toEqual(['perMinute: not_allowed']);
    expect(faultsOf(plan, { perMinute: 1, perDay: 1 })).toEqual([
      'perMinute: not_allowed',
      'perDay: not_allowed',
    ]);
  });

  it('are its own on the plan enterprise', () => {
    expect(planColumns('enterprise', { perMinute: 1, perDay: LARGEST_LIMIT })).toEqual({
      perMinute: 1,
      perDay: LARGEST_LIMIT,
    });
  });

  it.each([
    [{}, ['perMinute: required', 'perDay: required']],
    [{ perMinute: 5 }, ['perDay: required']],
    [{ perMinute: 0, perDay: 1 }, ['perMinute: out_of_range']],
    [{ perMinute: -1, perDay: LARGEST_LIMIT + 1 }, ['perMinute: out_of_range', 'perDay: out_of_range']],
    [{ perMinute: 1.5, perDay: 1 }, ['perMinute: out_of_range']],
    [
      { perMinute: Number.NaN, perDay: Number.POSITIVE_INFINITY },
      ['perMinute: out_of_range', 'perDay: out_of_range'],
    ],
  ])('are refused there, every fault by its field: %o', (limits, faults) => {
    expect(faultsOf('enterprise', limits)).toEqual(faults);
  });

  it.each<[Plan, Partial<PlanLimits>, string]>([
    ['pro', { perDay: 5 }, 'The plan pro has fixed limits; only enterprise takes its own.'],
    ['enterprise', { perMinute: 5 }, 'The plan enterprise needs its own limits.'],
    ['enterprise', { perMinute: 0, perDay: 5 }, 'This must be from 1 to 1000000000.'],
  ])('tell what would be right: %s with %o', (plan, limits, message) => {
    expect(() => planColumns(plan, limits)).toThrow(
      expect.objectContaining({ faults: [expect.objectContaining({ message })] }),
    );
  });
});
