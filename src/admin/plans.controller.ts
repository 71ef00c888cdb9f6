import { Get } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { AudienceController } from '../http/audience.js';
import { Operation } from '../http/operation.decorator.js';
import { PLANS, PLAN_LIMITS, type Plan } from '../throttling/plans.js';
import { OPERATORS } from './admin.scopes.js';

/** A plan with its limits. */
@ApiSchema({
  name: 'PlanLimits',
  description: 'A plan and its limits, which are null if each client has its own.',
})
class PlanDto {
  @ApiProperty({ enum: PLANS, enumName: 'Plan', description: 'Name of the plan' })
  name!: Plan;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Requests per minute', example: 300 })
  perMinute!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Requests per UTC day', example: 10_000 })
  perDay!: number | null;
}

/** The plans of the setting PLANS, over HTTP. */
@AudienceController(OPERATORS, 'plans', ['Clients', 'Accounts with a plan and API keys.'])
export class PlansController {
  @Get()
  @Operation({
    id: 'listPlans',
    summary: 'List the plans',
    description: 'Lists all plans that clients can have.',
    answers: { status: 200, description: 'The plans', arrayOf: PlanDto, schemaName: 'Plans' },
  })
  listPlans(): PlanDto[] {
    return PLANS.map((name) => ({ name, ...(PLAN_LIMITS[name] ?? { perMinute: null, perDay: null }) }));
  }
}
