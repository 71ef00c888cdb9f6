import { ApiSchema } from '@nestjs/swagger';
import { EnumProperty } from '../../input/enum.js';
import { IntegerProperty } from '../../input/integer.js';
import { TextProperty } from '../../input/text.js';
import { LARGEST_LIMIT, PLANS, type Plan } from '../../throttling/plans.js';
import { WithoutApiKey } from './without-api-key.js';

const NAME = { description: 'Name of the client', example: 'My shop', maxLength: 255 };
const PLAN = { enumName: 'Plan', values: PLANS, description: 'Plan that sets the limits' };

/** Limits of an enterprise client; other plans have their own. */
class EnterpriseLimits {
  @IntegerProperty({
    description: 'Requests per minute; enterprise only, and required there',
    example: 5_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
  })
  perMinute?: number;

  @IntegerProperty({
    description: 'Requests per UTC day; enterprise only, and required there',
    example: 500_000,
    minimum: 1,
    maximum: LARGEST_LIMIT,
  })
  perDay?: number;
}

/** What a client is made of. */
@ApiSchema({ name: 'NewClient', description: 'A client to make.' })
export class NewClientDto extends EnterpriseLimits {
  @TextProperty(NAME)
  @WithoutApiKey()
  name!: string;

  @EnumProperty({ ...PLAN, required: true })
  plan!: Plan;
}

/** What can be changed of a client; what is left out stays as it is. */
@ApiSchema({
  name: 'ClientChanges',
  description: 'What to change of a client; what is left out stays as it is.',
})
export class ClientChangesDto extends EnterpriseLimits {
  @TextProperty({ ...NAME, optional: true })
  @WithoutApiKey()
  name?: string;

  @EnumProperty(PLAN)
  plan?: Plan;
}
