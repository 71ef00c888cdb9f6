import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request } from 'express';
import { LARGEST_LIMIT, type PlanLimits } from '../core/config/plan-table.js';
import { addressOf } from '../core/request-address.js';
import { ADDRESS_LIMIT_PER_MINUTE, PLANS, PLAN_LIMITS, type Plan } from './plans.js';
import type { QuotaSubject } from './quota.js';

const CLIENT_PREFIX = 'client:';
const ADDRESS_PREFIX = 'address:';
/** An IPv6 site commonly has a /56 and can use any address in it, so all addresses of a /56 are counted together. */
const IPV6_PREFIX = 56;

/** The client whose requests count for a subject; undefined for an address. */
export function clientIdOfSubject(subjectId: string): string | undefined {
  return subjectId.startsWith(CLIENT_PREFIX) ? subjectId.slice(CLIENT_PREFIX.length) : undefined;
}

/** The subject that a request counts for: the client of its key, otherwise its address. */
export function quotaSubjectOf(request: Request): QuotaSubject {
  return request.quotaSubject ?? addressSubject(addressOf(request) ?? '');
}

/** The subject of requests from an address without a valid key. */
export function addressSubject(address: string): QuotaSubject {
  return {
    id: ADDRESS_PREFIX + normalizeIp(address, IPV6_PREFIX),
    plan: 'anonymous',
    perMinute: ADDRESS_LIMIT_PER_MINUTE,
  };
}

/** Whether a subject is an address, for requests without a valid key. */
export function isAddress({ id }: QuotaSubject): boolean {
  return id.startsWith(ADDRESS_PREFIX);
}

/** A client with its keys, or the user of another credential. */
export interface QuotaAccount {
  /** Id of the client, or the id derived from the user (see `clientIdOfUser()`). */
  readonly id: string;
  /** Name of the client; undefined for a user. */
  readonly name?: string;
  /** The user as named by the CredentialVerifier; undefined for a client. */
  readonly user?: string;
  readonly plan: Plan;
}

/**
 * Defines the limits of plans, and whose requests are counted together. To change either, provide a subclass under this class in a
 * `@Global()` module. Both methods run for every request, so they must use data in memory: a subclass that reads limits from elsewhere
 * loads them in `onModuleInit()` and on a timer, and keeps the last ones if that fails.
 */
@Injectable()
export class QuotaPolicy {
  /**
   * The limits of a plan other than enterprise: integers from 1, otherwise the service does not start. A change applies from the next
   * request. By default, the limits in PLANS; a plan that is no longer in PLANS has those of the free plan.
   */
  limitsOf(plan: Plan): PlanLimits {
    return PLAN_LIMITS[plan] ?? PLAN_LIMITS.free;
  }

  /**
   * The subject and limits for an account's requests. `limits` are those of its plan, or its own. Accounts with the same `id` share their
   * counts and should have the same limits. An `id` has at most 200 characters and needs its own prefix, such as `organization:`; `client:`
   * and `address:` are reserved.
   */
  subjectOf({ id, plan }: QuotaAccount, limits: PlanLimits): QuotaSubject {
    return { id: CLIENT_PREFIX + id, plan, perMinute: limits.perMinute, perDay: limits.perDay };
  }
}

/** Throws if a policy returns invalid limits for a plan. */
export function checkPolicy(policy: QuotaPolicy): void {
  for (const plan of PLANS) {
    if (plan === 'enterprise') continue;
    const { perMinute, perDay } = policy.limitsOf(plan);
    for (const limit of [perMinute, perDay])
      if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT)
        throw new Error(
          `${policy.constructor.name}: a limit of the plan ${plan} is ${limit}; it must be a whole number from 1 to ${LARGEST_LIMIT}.`,
        );
  }
}
