import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import type { PlanLimits } from '../../core/config/plan-table.js';
import type { Plan } from '../../throttling/plans.js';

/** The account that holds a plan. All its keys share its quota. */
@Entity('clients')
@Index('clients_created', ['createdAt', 'id'])
@Index('clients_name', ['name', 'id'])
@Index('clients_plan', ['plan', 'createdAt', 'id'])
@Index('clients_suspended', ['suspendedAt'])
@Check(
  'clients_enterprise_limits',
  `plan <> 'enterprise' OR (per_minute IS NOT NULL AND per_day IS NOT NULL)`,
)
export class Client {
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { length: 255 })
  name!: string;

  @Column('varchar', { length: 20 })
  plan!: Plan;

  /** Requests per minute; set only for the enterprise plan. */
  @Column('integer', { name: 'per_minute', nullable: true })
  perMinute!: number | null;

  /** Requests per UTC day; set only for the enterprise plan. */
  @Column('integer', { name: 'per_day', nullable: true })
  perDay!: number | null;

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;

  /** When it was suspended, so that its keys are refused; null if it is not suspended. */
  @Column('varchar', { name: 'suspended_at', length: 24, nullable: true })
  suspendedAt!: string | null;

  /** The limits of an enterprise client; `ClientQuotas` has those of any client. */
  get ownLimits(): PlanLimits {
    // The check constraint above guarantees both for an enterprise client.
    return { perMinute: this.perMinute ?? 0, perDay: this.perDay ?? 0 };
  }
}

const LIMITS = ['perMinute', 'perDay'] as const;

/** The columns that store a plan and its limits. Throws validation_failed if the plan does not allow these limits. */
export function planColumns(plan: Plan, limits: Partial<PlanLimits>): Pick<Client, (typeof LIMITS)[number]> {
  const details = LIMITS.flatMap((field) => errorsOf(plan, field, limits[field]));
  if (details.length > 0) throw new ApiError(HTTP_ERRORS.validation_failed, { details });
  return { perMinute: limits.perMinute ?? null, perDay: limits.perDay ?? null };
}

function errorsOf(plan: Plan, field: string, limit: number | undefined): ErrorDetail[] {
  if (plan !== 'enterprise') {
    const message = `The plan ${plan} has fixed limits. Only clients on the enterprise plan have their own limits.`;
    return limit === undefined ? [] : [{ field, code: 'not_allowed', message }];
  }
  const message = 'A client on the enterprise plan requires its own limits.';
  return limit === undefined ? [{ field, code: 'required', message }] : [];
}
