import { IntersectionType } from '@nestjs/swagger';
import { ACTOR_KINDS, type Actor } from '../../auth/audit/audit-entry.entity.js';
import { KEY_STATES } from '../../auth/clients/api-keys.service.js';
import { CLIENT_ORDERS, CLIENT_STATES, type ClientState } from '../../auth/clients/client-list.js';
import { ERROR_OUTCOMES, type ErrorOutcome } from '../../auth/usage/request-history.js';
import { DAYS_STORED, DAYS_SHOWN } from '../../auth/usage/usage.service.js';
import { Enum, Flag, Instant, Integer, Text, Uuid } from '../../http/validation/fields.js';
import { PLANS, type Plan } from '../../throttling/plans.js';
import { PageQuery } from '../../http/paging/pager.js';

const DAYS = {
  description: 'Number of UTC days to show, including today',
  minimum: 1,
  maximum: DAYS_STORED,
  default: DAYS_SHOWN,
};

/** Path parameters of a client. */
export class ClientParams {
  @Uuid({ description: 'Id of the client' })
  clientId!: string;
}

/** Path parameters of a key. */
export class KeyParams {
  @Uuid({ description: 'Id of the key' })
  keyId!: string;
}

/** Query of an operation that may invalidate the last key with the scope admin. */
export class ForceQuery {
  @Flag({
    description: 'Make the change even if it leaves no working key with the scope `admin`',
    default: false,
  })
  force!: boolean;
}

/** Query of the deletion of a client. */
export class DeletionQuery extends ForceQuery {
  @Flag({
    description:
      'Also erase its names, labels and URLs, and the IP addresses of its keys, from the audit trail (erasure of personal data)',
    default: false,
  })
  erase!: boolean;
}

/** Query of a client's usage. */
export class DaysQuery {
  @Integer(DAYS)
  days!: number;
}

/** Query of the list of clients. */
export class ClientsQuery extends PageQuery {
  @Text({
    description:
      'Only clients whose name contains this text. The case of the letters A to Z is ignored, and there are no wildcards',
    maxLength: 255,
    optional: true,
  })
  name?: string;

  @Enum({ enumName: 'Plan', values: PLANS, description: 'Only clients with this plan', optional: true })
  plan?: Plan;

  @Enum({
    enumName: 'ClientState',
    values: CLIENT_STATES,
    description:
      'Only clients in this state: `refused` (requests refused with 429 in this UTC hour or the previous one), `refused_today` (the same in ' +
      'this UTC day), `deprecated` (calls to deprecated operations today), `near_limit` (at least 80 % of the daily quota used), `banned` ' +
      '(a banned key), `suspended`, `expiring` (a key that expires within 7 days and was not rotated) or `failing` (a failing webhook). The ' +
      'first four list the largest amount first',
    optional: true,
  })
  state?: ClientState;

  @Enum({
    enumName: 'ClientOrder',
    values: CLIENT_ORDERS,
    description:
      'Sort order; a leading minus means descending. Default: oldest first. Has no effect on states that list the largest amount first',
    optional: true,
  })
  sort?: (typeof CLIENT_ORDERS)[number];
}

/** Query of the usage of all clients. */
export class UsageQuery extends ClientsQuery {
  @Integer(DAYS)
  days!: number;

  @Flag({
    description:
      'Only clients that called deprecated operations in these days. Pages may have fewer entries than `limit`',
    default: false,
  })
  deprecated!: boolean;
}

/** Query of the list of keys. */
export class KeysQuery extends PageQuery {
  @Uuid({ description: 'Only keys of this client', optional: true })
  client?: string;

  @Text({
    description:
      'Only keys that begin with these characters, such as `pst_live_4fTz`, or this SHA-256, which finds a key without sending it',
    maxLength: 64,
    optional: true,
  })
  key?: string;

  @Enum({
    enumName: 'KeyState',
    values: KEY_STATES,
    description:
      'Only keys in this state: `expiring`, which expire within 7 days and were neither rotated nor revoked',
    optional: true,
  })
  state?: (typeof KEY_STATES)[number];
}

/** Filters of the audit trail. */
export class AuditFilters {
  @Uuid({ description: 'Only changes of this client and its keys', optional: true })
  client?: string;

  @Uuid({ description: 'Only changes of this key', optional: true })
  key?: string;

  @Text({ description: 'Only this action, such as `api_key.revoked`', maxLength: 60, optional: true })
  action?: string;

  @Enum({
    enumName: 'ActorKind',
    values: ACTOR_KINDS,
    description: 'Only changes by this kind of actor',
    optional: true,
  })
  actor?: Actor['kind'];

  @Uuid({ description: 'Only changes made with this key', optional: true })
  actorKey?: string;

  @Text({
    description: 'Only changes from this IP address, or by this user@host on the command line',
    maxLength: 255,
    optional: true,
  })
  from?: string;

  @Instant({ description: 'Only changes at or after this time', optional: true })
  since?: string;

  @Instant({ description: 'Only changes before this time', optional: true })
  until?: string;
}

/** Query of the audit trail. */
export class AuditQuery extends IntersectionType(PageQuery, AuditFilters) {}

/** Query of the last errors of one client. */
export class OwnRequestsQuery extends PageQuery {
  @Text({ description: 'Only requests with this `X-Request-Id`', maxLength: 128, optional: true })
  requestId?: string;
}

/** Query of the last errors of all clients. */
export class RequestsQuery extends OwnRequestsQuery {
  @Uuid({ description: 'Only requests of this client', optional: true })
  client?: string;

  @Text({
    description: 'Only this error code, such as `pet_not_found`',
    maxLength: 96,
    optional: true,
  })
  code?: string;

  @Text({
    description: 'Only this method and route, such as `GET /v1/orders/:orderId`',
    maxLength: 200,
    optional: true,
  })
  operation?: string;

  @Enum({
    enumName: 'ErrorOutcome',
    values: ERROR_OUTCOMES,
    description:
      'Only `429` (refused by a quota or ban), `4xx` (other client errors) or `5xx` (server errors)',
    optional: true,
  })
  outcome?: ErrorOutcome;
}
