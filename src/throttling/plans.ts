import { type PlanTable, SPECIFIED_PLANS, planTable } from '../core/config/plan-table.js';
import { environmentOfProcess } from '../core/config/env-file.js';

/** Name of a plan: one of PLANS. */
export type Plan = string;

/** The plans with fixed limits, by the setting PLANS. It is read here, because decorators need it while the service is imported. */
export const PLAN_LIMITS: PlanTable = planLimits();

/** Names of all plans. Clients of enterprise have their own limits. */
export const PLANS: readonly Plan[] = [...Object.keys(PLAN_LIMITS), 'enterprise'];

/** Requests a minute that one address may send without a valid key. */
export const ADDRESS_LIMIT_PER_MINUTE = 60;

function planLimits(): PlanTable {
  try {
    const given = environmentOfProcess()['PLANS']?.trim() ?? '';
    return (given === '' ? undefined : planTable.parse(given)) ?? SPECIFIED_PLANS;
  } catch {
    // At startup, all settings are read and their errors reported at once.
    return SPECIFIED_PLANS;
  }
}
