import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKey } from '../../auth/clients/api-key.entity.js';
import { Clock, isoOf } from '../../core/time/clock.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import { Job } from '../../events/jobs/job.decorator.js';
import { WebhookMessages } from '../webhook-messages.js';
import { WebhookEndpoint, WebhookSubscription } from '../webhook-endpoint.entity.js';
import { API_KEY_EXPIRING } from './account-webhook.events.js';

/** Interval between checks for expiring keys, in milliseconds. */
const PERIOD_MS = 10 * MINUTE_MS;
/** How many keys are read at a time. */
const BATCH = 200;

const MAX_NOTICE_MS = 7 * DAY_MS;
/** How long before a key's expiry its owner is notified, shortest first. */
const NOTICES = [
  { name: '1d', ms: DAY_MS },
  { name: '7d', ms: MAX_NOTICE_MS },
] as const;

type EndingKey = ApiKey & { readonly expiresAt: string };

/** Notifies clients of keys that expire soon. */
@Injectable()
export class ExpiringKeys {
  /** Expiry of keys that have been notified, by id of the message, so that the next run does not look up these messages. */
  private readonly notified = new Map<string, string>();

  constructor(
    private readonly messages: WebhookMessages,
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a notice 7 days and 1 day before each key expires, once per expiry whichever process runs this. Revoked keys get none; a rotated
   * key gets one that names its successor, because it may still be in use.
   */
  @Job({ name: 'api_keys.tell_of_end', every: PERIOD_MS })
  async notifyAll(signal: AbortSignal): Promise<void> {
    const now = this.clock.now();
    const today = isoOf(now);
    for (const [id, expiresAt] of this.notified) if (expiresAt <= today) this.notified.delete(id);
    let after = '';
    for (;;) {
      const keys = await this.expiringKeys(now, after);
      for (const key of keys) {
        if (signal.aborted) return;
        await this.notify(key, now);
      }
      if (keys.length < BATCH) return;
      after = keys.at(-1)?.id ?? after;
    }
  }

  private async notify(key: EndingKey, now: number): Promise<void> {
    const notice = dueNotice(key, now);
    if (notice === undefined) return;
    const { id: keyId, clientId, prefix, label, expiresAt, replacedBy } = key;
    const id = [keyId, expiresAt, notice].join('/');
    if (this.notified.has(id)) return;
    const data = { keyId, prefix, label, notice, expiresAt, replacedBy };
    await this.messages.send(API_KEY_EXPIRING, data, { clientId, id });
    this.notified.set(id, expiresAt);
  }

  /** Keys that expire soon, in order of id, of clients with an endpoint that subscribes to the event. */
  private expiringKeys(now: number, after: string): Promise<EndingKey[]> {
    const query = this.dataSource.manager.createQueryBuilder(ApiKey, 'key');
    const subscribed = query
      .subQuery()
      .select('endpoint.clientId')
      .from(WebhookEndpoint, 'endpoint')
      .innerJoin(WebhookSubscription, 'subscription', 'subscription.endpoint_id = endpoint.id')
      .where('subscription.event = :event AND endpoint.disabledAt IS NULL')
      .getQuery();
    return query
      .where(`key.clientId IN ${subscribed}`)
      .andWhere(
        'key.revokedAt IS NULL AND key.expiresAt > :now AND key.expiresAt <= :soon AND key.id > :after',
      )
      .setParameters({
        event: API_KEY_EXPIRING.name,
        now: isoOf(now),
        soon: isoOf(now + MAX_NOTICE_MS),
        after,
      })
      .orderBy('key.id')
      .take(BATCH)
      .getMany() as Promise<EndingKey[]>;
  }
}

/**
 * The notice that is due for a key; undefined if there is none. It is the shortest that applies, so that a shortened lifetime causes a
 * single notice. A key that was issued for less time than the notice gets none, because its owner knows. `now` is in ms since the Unix
 * epoch.
 */
export function dueNotice(
  { createdAt, expiresAt, issuedUntil }: Pick<EndingKey, 'createdAt' | 'expiresAt' | 'issuedUntil'>,
  now: number,
): string | undefined {
  const end = Date.parse(expiresAt);
  if (end <= now) return undefined;
  const startedAt = NOTICES.find(({ ms }) => now >= end - ms);
  // The original expiry, because it may have been shortened without the user of the key knowing.
  const lifetime = issuedUntil === null ? Infinity : Date.parse(issuedUntil) - Date.parse(createdAt);
  return startedAt && lifetime > startedAt.ms ? startedAt.name : undefined;
}
