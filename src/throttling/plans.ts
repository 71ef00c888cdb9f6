/** The plans of the specification (heading "Rate limits by plan"). */
export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const;

/** Name of a plan. */
export type Plan = (typeof PLANS)[number];

/** Requests allowed in each window. */
export interface PlanLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

/** Largest limit that can be given to an enterprise client. */
export const LARGEST_LIMIT = 1_000_000_000;

/** The plan table: the one place to change a plan. An enterprise client brings its own numbers. */
export const PLAN_LIMITS: Readonly<Record<Exclude<Plan, 'enterprise'>, PlanLimits>> = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};

/** Requests a minute that one address may send without a valid key. */
export const ADDRESS_LIMIT_PER_MINUTE = 60;
