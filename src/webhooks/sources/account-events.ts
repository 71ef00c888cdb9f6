import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKey } from '../../auth/clients/api-key.entity.js';
import { OnDomainEvent } from '../../events/domain-events.js';
import {
  API_KEY_BANNED,
  type ApiKeyBanned,
  QUOTA_THRESHOLD,
  type QuotaThreshold,
} from '../../throttling/throttling.events.js';
import { WebhookMessages } from '../webhook-messages.js';
import { WEBHOOK_API_KEY_BANNED, WEBHOOK_QUOTA_THRESHOLD } from './account-webhook.events.js';

/**
 * Sends quota events as webhooks. They are sent after the request was decided, in a later turn of the event loop, so that no request waits
 * for them or fails because of them; they are lost if the process dies at that moment.
 */
@Injectable()
export class AccountEvents {
  /** The last message, for which the next one waits: listeners run concurrently, and 80 % must be sent before 100 %. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly messages: WebhookMessages,
    private readonly dataSource: DataSource,
  ) {}

  @OnDomainEvent(API_KEY_BANNED)
  async onBan({ keyId, clientId, bannedUntil }: ApiKeyBanned): Promise<void> {
    const key = await this.dataSource.manager.findOneBy(ApiKey, { id: keyId });
    // The key was deleted with its client.
    if (!key) return;
    const { prefix, label } = key;
    const id = `${keyId}/${bannedUntil}`;
    await this.messages.send(WEBHOOK_API_KEY_BANNED, { keyId, prefix, label, bannedUntil }, { clientId, id });
  }

  /**
   * A share of a window has been used. Other instances, and this one after a restart, report it again; with the same id it is one message.
   */
  @OnDomainEvent(QUOTA_THRESHOLD)
  async onThreshold({ clientId, ...reached }: QuotaThreshold): Promise<void> {
    const { window, percent, limit, resetsAt } = reached;
    const id = [clientId, window, resetsAt, limit, percent].join('/');
    const written = this.last.then(() =>
      this.messages.send(WEBHOOK_QUOTA_THRESHOLD, reached, { clientId, id }),
    );
    this.last = written.catch(() => undefined);
    await written;
  }
}
