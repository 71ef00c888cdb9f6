import type { SettingType } from './setting.js';

/** Requests allowed in each window. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** Limits by plan name; always includes the plans of the specification. */
export type PlanTable = Readonly<Record<string, PlanLimits>> & typeof SPECIFIED_PLANS;

/** Maximum limit of a plan or an enterprise client. */
export const LARGEST_LIMIT = 1_000_000_000;

/** The plans of the specification (heading "Rate limits by plan"); enterprise has limits per client. */
export const SPECIFIED_PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const satisfies Readonly<Record<string, PlanLimits>>;

/** One plan, such as `free=60/1000`. The name must fit the column in the table of clients. */
const PLAN = /^([a-z][a-z0-9-]{0,19})=([1-9]\d{0,9})\/([1-9]\d{0,9})$/;
/** Reserved names: individual limits, and callers without a key. */
const RESERVED = new Set(['enterprise', 'anonymous']);

/** The plans with fixed limits: the given ones, which override those of the specification. */
export const planTable: SettingType<PlanTable> = {
  mustBe:
    'different plans such as free=60/1000 (requests per minute/per UTC day, 1 to 1000000000), separated by commas, ' +
    'without enterprise',
  parse(text) {
    const parsed: Record<string, PlanLimits> = {};
    for (const entry of text.split(',')) {
      const [, name = '', ...numbers] = PLAN.exec(entry.trim()) ?? [];
      const [perMinute = 0, perDay = 0] = numbers.map(Number);
      if (name === '' || RESERVED.has(name) || Object.hasOwn(parsed, name)) return undefined;
      if (Math.max(perMinute, perDay) > LARGEST_LIMIT) return undefined;
      parsed[name] = { perMinute, perDay };
    }
    return { ...SPECIFIED_PLANS, ...parsed };
  },
  format: (plans) =>
    Object.entries(plans)
      .map(([name, { perMinute, perDay }]) => `${name}=${perMinute}/${perDay}`)
      .join(','),
};
