import { ApiError } from '../errors/api-error.js';
import type { FaultDetail } from '../errors/fault-details.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { LARGEST_LIMIT, type Plan, type PlanLimits } from '../throttling/plans.js';
import type { Client } from './client.entity.js';

const LIMITS = ['perMinute', 'perDay'] as const;

/** What a client's row says of its plan. Throws validation_failed, naming every fault, when the limits do not go with it. */
export function planColumns(plan: Plan, limits: Partial<PlanLimits>): Pick<Client, (typeof LIMITS)[number]> {
  const details = LIMITS.flatMap((field) => faultsOf(plan, field, limits[field]));
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
  return { perMinute: limits.perMinute ?? null, perDay: limits.perDay ?? null };
}

function faultsOf(plan: Plan, field: string, limit: number | undefined): FaultDetail[] {
  if (plan !== 'enterprise') {
    const message = `The plan ${plan} has fixed limits; only enterprise takes its own.`;
    return limit === undefined ? [] : [{ field, code: 'not_allowed', message }];
  }
  if (limit === undefined)
    return [{ field, code: 'required', message: 'The plan enterprise needs its own limits.' }];
  if (Number.isInteger(limit) && limit >= 1 && limit <= LARGEST_LIMIT) return [];
  return [{ field, code: 'out_of_range', message: `This must be from 1 to ${LARGEST_LIMIT}.` }];
}
