import { Controller, Get } from '@nestjs/common';
import { RequireScopes } from '../auth/auth.decorators.js';
import { WEBHOOKS_TAG, WebhookEventDto, toWebhookEventDto } from './dto/webhook-endpoint.dto.js';
import { Operation, Tag } from '../http/operation.decorator.js';
import { tellableEvents } from '../webhooks/endpoints/endpoint-rules.js';
import { ADMIN_SCOPE } from './admin.scopes.js';

/** What webhook endpoints can be told of, over HTTP. */
@Tag('Webhooks', WEBHOOKS_TAG)
@RequireScopes(ADMIN_SCOPE)
@Controller('admin/webhook-events')
export class WebhookEventsController {
  @Get()
  @Operation({
    id: 'listWebhookEvents',
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
