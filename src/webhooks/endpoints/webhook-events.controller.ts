import { Get, type Type } from '@nestjs/common';
import { type Audience, AudienceController } from '../../http/audience.js';
import { Operation } from '../../http/operation.decorator.js';
import { WebhookEventDto } from './dto/webhook-endpoint.dto.js';
import { tellableEvents } from './endpoint-rules.js';
import { WEBHOOKS_TAG } from './webhooks.controller.js';

/** The events that webhook endpoints can subscribe to, below the path of an audience. */
export function webhookEventsController(audience: Audience): Type {
  const own = audience.holderOf ? 'Own' : '';

  @AudienceController(audience, 'webhook-events', WEBHOOKS_TAG)
  class WebhookEventsController {
    @Get()
    @Operation({
      id: `list${own}WebhookEvents`,
      summary: 'List the events of webhooks',
      description: 'Lists the events with their descriptions and scopes.',
      answers: {
        status: 200,
        description: 'The events, by name',
        arrayOf: WebhookEventDto,
        schemaName: 'WebhookEvents',
      },
    })
    list(): WebhookEventDto[] {
      return tellableEvents();
    }
  }
  return WebhookEventsController;
}
