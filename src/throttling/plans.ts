import { type PlanTable, SPECIFIED_PLANS, planTable } from '../core/config/plan-table.js';
import { environmentOfProcess } from '../core/config/env-file.js';

/** Name of a plan in PLANS. */
export type Plan = string;

/** The plans with fixed limits, from the setting PLANS. Read here, because decorators need it during import. */
export const PLAN_LIMITS: PlanTable = planLimits();

/** Names of all plans. Clients on enterprise have their own limits. */
export const PLANS: readonly Plan[] = [...Object.keys(PLAN_LIMITS), 'enterprise'];

/** Requests per minute that one address may send without a valid key. */
export const ADDRESS_LIMIT_PER_MINUTE = 60;

function planLimits(): PlanTable {
  try {
    const setting = environmentOfProcess()['PLANS']?.trim() ?? '';
    return (setting === '' ? undefined : planTable.parse(setting)) ?? SPECIFIED_PLANS;
  } catch {
    // At startup, all settings are read and their errors are reported together.
    return SPECIFIED_PLANS;
  }
}
