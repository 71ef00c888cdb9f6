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

/** The client whose requests count under this id; undefined for an address. */
export function clientIdOfSubject(subjectId: string): string | undefined {
  return subjectId.startsWith(CLIENT_PREFIX) ? subjectId.slice(CLIENT_PREFIX.length) : undefined;
}

/** The subject that the request counts for: the client of its key, otherwise its address. */
export function quotaSubjectOf(request: Request): QuotaSubject {
  return request.quotaSubject ?? addressSubject(addressOf(request) ?? '');
}

/** The subject of a caller without a valid key at an address. */
export function addressSubject(address: string): QuotaSubject {
  return {
    id: ADDRESS_PREFIX + normalizeIp(address, IPV6_PREFIX),
    plan: 'anonymous',
    perMinute: ADDRESS_LIMIT_PER_MINUTE,
  };
}

/** Whether requests count for an address, because they have no valid key. */
export function isAddress({ id }: QuotaSubject): boolean {
  return id.startsWith(ADDRESS_PREFIX);
}

/** A sender of requests: a client with its keys, or the user of another credential. */
export interface QuotaAccount {
  /** Id of the client, or the id made of the user (see `clientIdOfUser()`). */
  readonly id: string;
  /** Name of the client; undefined for a user. */
  readonly name?: string;
  /** The user as the CredentialVerifier names it; undefined for a client. */
  readonly user?: string;
  readonly plan: Plan;
}

/**
 * What plans allow, and whose requests are counted together. To change either, provide a subclass under this class in a
 * `@Global()` module. Both methods are called for every request, so they return from memory: a subclass that reads limits from
 * elsewhere does so in `onModuleInit()` and on a timer, and keeps the last ones when that fails.
 */
@Injectable()
export class QuotaPolicy {
  /**
   * The limits of a plan other than enterprise, whole numbers from 1; the start fails when they are not. A change applies to the next
   * request. By default those of the setting PLANS, and those of free for a plan that it does not name any more.
   */
  limitsOf(plan: Plan): PlanLimits {
    return PLAN_LIMITS[plan] ?? PLAN_LIMITS.free;
  }

  /**
   * The subject that the requests of an account count for, with its limits; `limits` are those of its plan, or its own. Accounts
   * with the same `id` share their counts and should have the same limits. An `id` has at most 200 characters and a prefix of
   * its own, such as `organisation:`; `client:` and `address:` are the platform's.
   */
  subjectOf({ id, plan }: QuotaAccount, limits: PlanLimits): QuotaSubject {
    return { id: CLIENT_PREFIX + id, plan, perMinute: limits.perMinute, perDay: limits.perDay };
  }
}

/** Throws when a policy has limits for a plan that nothing could be counted with. */
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
