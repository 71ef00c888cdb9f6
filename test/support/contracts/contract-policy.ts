import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  type Plan,
  type PlanLimits,
  type QuotaAccount,
  QuotaPolicy,
  type QuotaSubject,
} from 'petstore-service';

/** Limits from a price list. All clients of an organization share one quota. */
@Injectable()
export class ContractPolicy extends QuotaPolicy implements OnModuleInit {
  private limits = new Map<Plan, PlanLimits>();

  async onModuleInit(): Promise<void> {
    this.limits = await Promise.resolve(new Map([['free', { perMinute: 30, perDay: 500 }]]));
  }

  override limitsOf(plan: Plan): PlanLimits {
    return this.limits.get(plan) ?? super.limitsOf(plan);
  }

  override subjectOf(account: QuotaAccount, limits: PlanLimits): QuotaSubject {
    const [organization, rest] = account.name?.split('/') ?? [];
    if (rest === undefined) return super.subjectOf(account, limits);
    return { id: `organization:${organization}`, plan: account.plan, ...limits };
  }
}
