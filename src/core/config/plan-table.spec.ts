import { expect, it } from 'vitest';
import { SPECIFIED_PLANS, planTable } from './plan-table.js';

it('without a setting has the plans of the specification (heading "Rate limits by plan")', () => {
  expect(SPECIFIED_PLANS).toEqual({
    free: { perMinute: 60, perDay: 1_000 },
    pro: { perMinute: 300, perDay: 10_000 },
    business: { perMinute: 1_000, perDay: 100_000 },
  });
});

const team = { perMinute: 500, perDay: 50_000 };

it.each([
  ['a plan is added', 'team=500/50000', { ...SPECIFIED_PLANS, team }],
  [
    'numbers are changed, white space aside',
    ' free=1/2 , team=500/50000',
    { ...SPECIFIED_PLANS, free: { perMinute: 1, perDay: 2 }, team },
  ],
  ['what is written is read', planTable.format?.(SPECIFIED_PLANS) ?? '', SPECIFIED_PLANS],
  [
    'the largest name and limit',
    `${'a'.repeat(20)}=1/1000000000`,
    { ...SPECIFIED_PLANS, ['a'.repeat(20)]: { perMinute: 1, perDay: 1_000_000_000 } },
  ],
])('%s', (_, text, expected) => {
  expect(planTable.parse(text)).toEqual(expected);
});

it.each([
  'team',
  'team=0/5',
  'team=5/1000000001',
  'team=5/05',
  'team=-5/5',
  'team=5/6,team=7/8',
  'Team=5/6',
  `${'a'.repeat(21)}=5/6`,
  'enterprise=5/6',
  'anonymous=5/6',
  '__proto__=5/6',
])('refuses %s', (text) => {
  expect(planTable.parse(text)).toBeUndefined();
});
