import { ApiSchema } from '@nestjs/swagger';
import { LARGEST_LIMIT, PLANS, type Plan } from '../../throttling/plans.js';
import { WithoutApiKey } from './without-api-key.js';
import { Enum, Integer, Text } from '../../input/fields.js';

const NAME = { description: 'Name of the client', example: 'My shop', maxLength: 255 };
const PLAN = { enumName: 'Plan', values: PLANS, description: 'Plan that sets the limits' };

/** Limits of an enterprise client; other plans have their own. */
class EnterpriseLimits {
  @Integer({
    description: 'Requests per minute; enterprise only, and required there',
    example: 5_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
    optional: true,
  })
  perMinute?: number;

  @Integer({
    description: 'Requests per UTC day; enterprise only, and required there',
    example: 500_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
    optional: true,
  })
  perDay?: number;
}

/** What a client is made of. */
@ApiSchema({ name: 'NewClient', description: 'A client to make.' })
export class NewClientDto extends EnterpriseLimits {
  @Text(NAME)
  @WithoutApiKey()
  name!: string;

  @Enum(PLAN)
  plan!: Plan;
}

/** What can be changed of a client; what is left out stays as it is. */
@ApiSchema({
  name: 'ClientChanges',
  description: 'What to change of a client; what is left out stays as it is.',
})
export class ClientChangesDto extends EnterpriseLimits {
  @Text({ ...NAME, optional: true })
  @WithoutApiKey()
  name?: string;

  @Enum({ ...PLAN, optional: true })
  plan?: Plan;
}
