import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ONE_CHANGE } from '../../auth/clients/key-rules.js';
import type { Client } from '../../auth/clients/client.entity.js';
import { Enum, Flag, Instant, Integer, StringList, Text } from '../../http/validation/fields.js';
import { LARGEST_LIMIT, type PlanLimits } from '../../core/config/plan-table.js';
import { IssuedKeyDto } from './api-key.dto.js';
import { PLANS, type Plan } from '../../throttling/plans.js';
import { WithoutApiKey } from '../../http/validation/without-api-key.js';

/** A client, on the command line and over HTTP. */
@ApiSchema({ name: 'Client', description: 'An account with a plan and API keys.' })
export class ClientDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'string', example: 'My shop' })
  name!: string;

  @ApiProperty({ enum: PLANS, enumName: 'Plan', description: 'Plan that sets the limits' })
  plan!: Plan;

  @ApiProperty({ type: 'integer', description: 'Requests per minute', example: 300 })
  perMinute!: number;

  @ApiProperty({ type: 'integer', description: 'Requests per UTC day', example: 10_000 })
  perDay!: number;

  @Instant({ description: 'When it was created' })
  createdAt!: string;

  @Instant({ description: 'When it was suspended; null if it is not suspended', nullable: true })
  suspendedAt!: string | null;
}

/** Converts a client and its limits for display. */
export function toClientDto(
  { id, name, plan, createdAt, suspendedAt }: Client,
  { perMinute, perDay }: PlanLimits,
): ClientDto {
  return { id, name, plan, perMinute, perDay, createdAt, suspendedAt };
}

const NAME = { description: 'Name of the client', example: 'My shop', maxLength: 255 };
const PLAN = { enumName: 'Plan', values: PLANS, description: 'Plan that sets the limits' };

/** Limits of an enterprise client; other plans have fixed limits. */
class EnterpriseLimits {
  @Integer({
    description: 'Requests per minute; required for the enterprise plan, not allowed for others',
    example: 5_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
    optional: true,
  })
  perMinute?: number;

  @Integer({
    description: 'Requests per UTC day; required for the enterprise plan, not allowed for others',
    example: 500_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
    optional: true,
  })
  perDay?: number;
}

/** A new client, and the key that was issued for it. */
@ApiSchema({ name: 'CreatedClient', description: 'A new client, with its first key if requested.' })
export class CreatedClientDto extends ClientDto {
  @ApiProperty({ type: IssuedKeyDto, required: false, description: 'Its first key, if `issueKey` was true' })
  key?: IssuedKeyDto;
}

/** Body that creates a client. */
@ApiSchema({ name: 'NewClient', description: 'The name, plan and limits of a new client.' })
export class NewClientDto extends EnterpriseLimits {
  @Text(NAME)
  @WithoutApiKey()
  name!: string;

  @Enum(PLAN)
  plan!: Plan;

  @Flag({ description: 'Also issue a key, which is shown only in this response', default: false })
  issueKey!: boolean;

  @StringList({
    optional: true,
    description:
      'Scopes of that key. The calling key must have each of them. Default: the default scopes that the calling key has',
    example: ['account'],
  })
  scopes?: string[];
}

/** Changeable fields of a client; omitted fields do not change. */
@ApiSchema({
  name: 'ClientChanges',
  description: 'Changes to a client; omitted fields do not change.',
  ...ONE_CHANGE,
})
export class ClientChangesDto extends EnterpriseLimits {
  @Text({ ...NAME, optional: true })
  @WithoutApiKey()
  name?: string;

  @Enum({ ...PLAN, optional: true })
  plan?: Plan;
}

const LIMITS = { perMinute: 5_000, perDay: 500_000 };

/** Bodies for "Try it out": only an enterprise client has its own limits. */
export const NEW_CLIENT_EXAMPLES = {
  client: { value: { name: 'My shop', plan: 'pro' } },
  enterprise: { value: { name: 'My shop', plan: 'enterprise', ...LIMITS } },
};

/** Bodies for "Try it out" to change a client. */
export const CLIENT_CHANGES_EXAMPLES = {
  plan: { value: { plan: 'business' } },
  name: { value: { name: 'My shop' } },
  enterprise: { value: { plan: 'enterprise', ...LIMITS } },
};

/** A client that was erased from the audit trail. */
@ApiSchema({ name: 'ErasedClient', description: 'A deleted client that was erased from the audit trail.' })
export class ErasedClientDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'integer', description: 'Number of its entries in the audit trail', example: 3 })
  entries!: number;
}
