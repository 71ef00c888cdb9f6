import { Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import type { PlanLimits } from '../../core/config/plan-table.js';
import { QuotaPolicy, checkPolicy } from '../../throttling/quota-policy.js';
import type { QuotaSubject } from '../../throttling/quota.js';
import type { Client } from './client.entity.js';

/** The limits of clients and the subjects that their requests count for, according to a module's QuotaPolicy or the platform's. */
@Injectable()
export class ClientQuotas implements OnApplicationBootstrap {
  private readonly namesClients;

  constructor(@Optional() readonly policy: QuotaPolicy = new QuotaPolicy()) {
    this.namesClients = policy.constructor === QuotaPolicy;
  }

  /** Checks the limits of the policy. A module's policy may load them in `onModuleInit()`, so they cannot be checked earlier. */
  onApplicationBootstrap(): void {
    checkPolicy(this.policy);
  }

  /** The limits of a client: those of its plan, or its own for the enterprise plan. */
  limitsOf(client: Client): PlanLimits {
    return client.plan === 'enterprise' ? client.ownLimits : this.policy.limitsOf(client.plan);
  }

  /** The subject that a client's requests count for. */
  subjectOf(client: Client): QuotaSubject {
    const subject = this.policy.subjectOf(client, this.limitsOf(client));
    return this.namesClients ? subject : { ...subject, clientId: client.id };
  }
}
