import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Client } from '../../accounts/client.entity.js';
import { PLANS, type Plan } from '../../throttling/plans.js';
import { Instant } from '../../input/fields.js';

/** A client as shown, on the command line and over HTTP. */
@ApiSchema({ name: 'Client', description: 'An account that holds a plan and owns keys.' })
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

  @Instant({ description: 'When it was made' })
  createdAt!: string;

  @Instant({ description: 'Since when its keys are refused; null while they are not', nullable: true })
  suspendedAt!: string | null;
}

/** What is shown of a client. */
export function toClientDto({ id, name, plan, limits, createdAt, suspendedAt }: Client): ClientDto {
  return { id, name, plan, ...limits, createdAt, suspendedAt };
}
