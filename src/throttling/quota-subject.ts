import type { Request } from 'express';
import { normalizeIp } from '@nestjs/throttler';
import { addressOf } from '../core/request-address.js';
import { ADDRESS_LIMIT_PER_MINUTE } from './plans.js';
import type { QuotaSubject } from './quota.js';

const CLIENT_PREFIX = 'client:';
const ADDRESS_PREFIX = 'address:';
/** An IPv6 site commonly has a /56 and can use any address in it, so all addresses of a /56 are counted together. */
const IPV6_PREFIX = 56;

/** The id under which the requests of a client count together. */
export function clientSubjectId(clientId: string): string {
  return CLIENT_PREFIX + clientId;
}

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
