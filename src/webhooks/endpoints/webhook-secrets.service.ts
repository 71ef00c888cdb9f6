import { Injectable } from '@nestjs/common';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { ApiError } from '../../core/errors/api-error.js';
import { Clock } from '../../core/time/clock.js';
import { type PreviousSecret, WebhookEndpoint } from '../webhook-endpoint.entity.js';
import { newWebhookSecret, signing } from '../webhook-signature.js';
import {
  type WebhookEndpointWithSecretDto,
  toWebhookEndpointWithSecretDto,
} from './dto/webhook-endpoint.dto.js';
import { EndpointChanges } from './endpoint-changes.js';
import { requireEventScopes } from './endpoint-rules.js';
import { WEBHOOK_ERRORS } from './webhook-endpoints.errors.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Maximum number of old secrets that still sign; each adds a signature to every message. */
const MAX_PREVIOUS_SECRETS = 4;

/** Rotates the secrets of webhook endpoints. */
@Injectable()
export class WebhookSecretsService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly changes: EndpointChanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Gives an endpoint a new secret. Messages are also signed with the old one for `grace`, in milliseconds, and with those of earlier
   * rotations until they expire; with 0, all old secrets expire immediately. Throws webhook_endpoint_not_found,
   * webhook_secret_limit_reached, and event_scope_not_held if the requester lacks the scope of an event, whose messages it could forge with
   * the secret.
   */
  rotate(id: string, grace: number, by: Requester): Promise<WebhookEndpointWithSecretDto> {
    return this.changes.run(by, async (manager) => {
      const endpoint = await this.endpoints.find(id, by, manager);
      requireEventScopes(endpoint.events, by);
      const until = grace === 0 ? null : this.clock.instant(grace);
      const previousSecrets = until === null ? [] : this.withPrevious(endpoint, until);
      const secrets = { secret: newWebhookSecret(), previousSecrets };
      await manager.update(WebhookEndpoint, { id }, secrets);
      await this.changes.record(manager, by, 'secret_rotated', endpoint, { previousSecretUntil: until });
      return toWebhookEndpointWithSecretDto(Object.assign(endpoint, secrets), this.clock.now());
    });
  }

  /** The secrets that sign in addition to the next one if the current one does until a given time. */
  private withPrevious({ id, secret, previousSecrets }: WebhookEndpoint, until: string): PreviousSecret[] {
    const remaining = signing(previousSecrets, this.clock.now());
    if (remaining.length >= MAX_PREVIOUS_SECRETS)
      throw new ApiError(WEBHOOK_ERRORS.webhook_secret_limit_reached, {
        params: { id, limit: MAX_PREVIOUS_SECRETS },
      });
    return [...remaining, { secret, until }];
  }
}
