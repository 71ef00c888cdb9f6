import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Plan, PlanLimits } from '../throttling/plans.js';
import { PLAN_LIMITS } from '../throttling/plans.js';

/** The account that holds a plan. Quota belongs to it, however many keys it has. */
@Entity('clients')
@Index('clients_created', ['createdAt', 'id'])
@Check(
  'clients_enterprise_limits',
  `plan <> 'enterprise' OR (per_minute IS NOT NULL AND per_day IS NOT NULL)`,
)
export class Client {
  /** A UUID. */
  @PrimaryColumn('varchar', { length: 36 })
  id!: string;

  @Column('varchar', { length: 255 })
  name!: string;

  @Column('varchar', { length: 20 })
  plan!: Plan;

  /** Requests a minute; set for the enterprise plan only. */
  @Column('integer', { name: 'per_minute', nullable: true })
  perMinute!: number | null;

  /** Requests a UTC day; set for the enterprise plan only. */
  @Column('integer', { name: 'per_day', nullable: true })
  perDay!: number | null;

  @Column('varchar', { name: 'created_at', length: 24 })
  createdAt!: string;

  /** Since when its keys are refused; null while they are not. */
  @Column('varchar', { name: 'suspended_at', length: 24, nullable: true })
  suspendedAt!: string | null;

  /** What the plan allows this client. */
  get limits(): PlanLimits {
    if (this.plan !== 'enterprise') return PLAN_LIMITS[this.plan];
    // A check constraint sees to it that an enterprise client has both.
    return { perMinute: this.perMinute ?? 0, perDay: this.perDay ?? 0 };
  }
}
