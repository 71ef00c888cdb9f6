import { expect, it } from 'vitest';
import { LARGEST_LIMIT } from '../core/config/plan-table.js';
import { ADDRESS_LIMIT_PER_MINUTE, PLAN_LIMITS, PLANS } from './plans.js';

it('are those of the specification (heading "Rate limits by plan")', () => {
  expect(PLANS).toEqual(['free', 'pro', 'business', 'enterprise']);
  expect(PLAN_LIMITS).toEqual({
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
  });
  expect([LARGEST_LIMIT, ADDRESS_LIMIT_PER_MINUTE]).toEqual([1_000_000_000, 60]);
});
