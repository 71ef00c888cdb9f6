import { Get } from '@nestjs/common';
import { ApiSchema, PickType } from '@nestjs/swagger';
import { AudienceController } from '../http/declarations/audience.js';
import { Operation } from '../http/declarations/operation.decorator.js';
import { PLAN_LIMITS } from '../throttling/plans.js';
import { OPERATORS } from './admin.scopes.js';
import { ClientDto } from './dto/client.dto.js';

@ApiSchema({ name: 'PlanLimits', description: 'A plan and its limits.' })
class PlanLimitsDto extends PickType(ClientDto, ['plan', 'perMinute', 'perDay']) {}

/** The plans in the setting PLANS, over HTTP. */
@AudienceController(OPERATORS, 'plans', ['Clients', 'Accounts with a plan and API keys.'])
export class PlansController {
  @Get()
  @Operation({
    id: 'listPlans',
    summary: 'List the plans',
    description: 'Lists the plans with fixed limits. Clients on the enterprise plan have their own limits.',
    responses: { status: 200, description: 'The plans', arrayOf: PlanLimitsDto, schemaName: 'Plans' },
  })
  listPlans(): PlanLimitsDto[] {
    return Object.entries(PLAN_LIMITS).map(([plan, limits]) => ({ plan, ...limits }));
  }
}
