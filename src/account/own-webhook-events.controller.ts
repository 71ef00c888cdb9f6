import { Controller, Get } from '@nestjs/common';
import { RequireScopes } from '../auth/auth.decorators.js';
import { WEBHOOKS_TAG, WebhookEventDto, toWebhookEventDto } from '../admin/dto/webhook-endpoint.dto.js';
import { Operation, Tag } from '../http/operation.decorator.js';
import { Uncounted } from '../throttling/uncounted.decorator.js';
import { tellableEvents } from '../webhooks/endpoints/endpoint-rules.js';
import { WEBHOOKS_BOUND } from './account.bounds.js';
import { ACCOUNT_SCOPE } from './account.scopes.js';

/** What webhook endpoints can be told of. */
@Tag('Webhooks', WEBHOOKS_TAG)
@RequireScopes(ACCOUNT_SCOPE)
@Uncounted(WEBHOOKS_BOUND)
@Controller('account/webhook-events')
export class OwnWebhookEventsController {
  @Get()
  @Operation({
    id: 'listOwnWebhookEvents',
    summary: 'List what webhook endpoints can be told of',
    description: 'Lists the events, each with when it happens and the scope that it is told for.',
    answers: {
      status: 200,
      description: 'The events, by name',
      arrayOf: WebhookEventDto,
      schemaName: 'WebhookEvents',
    },
  })
  list(): WebhookEventDto[] {
    return tellableEvents().map(toWebhookEventDto);
  }
}
