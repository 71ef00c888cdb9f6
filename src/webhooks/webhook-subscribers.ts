import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DataVersion } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { SharedRead } from './shared-read.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookSubscription } from './webhook-subscription.entity.js';

/** Whom a message is for; without both, every endpoint that subscribes to its event. */
export interface Addressee {
  /** Only endpoints of this client. */
  readonly clientId?: string;
  /** This endpoint alone, also if it does not subscribe to the event. */
  readonly endpointId?: string;
}

const ANY = `SELECT 1 AS found FROM webhook_subscriptions JOIN webhook_endpoints ON webhook_endpoints.id = webhook_subscriptions.endpoint_id
  WHERE webhook_subscriptions.event = ?1 AND webhook_endpoints.disabled_at IS NULL LIMIT 1`;

/** Knows which endpoints are told of an event. */
@Injectable()
export class WebhookSubscribers {
  private readonly known = new Map<string, { readonly version: number; readonly isAny: boolean }>();
  private readonly reads = new Map<string, SharedRead<boolean>>();

  constructor(
    private readonly reader: JsonReader,
    private readonly dataVersion: DataVersion,
  ) {}

  /**
   * Whether any enabled endpoint subscribes, as of now or later: one that was committed before the call, by whichever process,
   * counts. Where the DataVersion tells of every commit at once the answer is cached; elsewhere the database is asked, by all who ask
   * at the same time together. Not for callers in a transaction, whose own writes it does not see.
   */
  async isAny(event: string): Promise<boolean> {
    // Ask before reading: a commit in between must void what is cached.
    const version = this.dataVersion.isComplete ? this.dataVersion.current('keys') : undefined;
    const known = this.known.get(event);
    if (known && version !== undefined && known.version === version) return known.isAny;
    let read = this.reads.get(event);
    if (!read)
      this.reads.set(
        event,
        (read = new SharedRead(async () => (await this.reader.first(ANY, [event])) !== undefined)),
      );
    const isAny = await read.ask();
    if (version !== undefined) this.known.set(event, { version, isAny });
    return isAny;
  }

  /** The ids of the enabled endpoints that a message is for, read with the manager of a transaction. */
  async of(event: string, { clientId, endpointId }: Addressee, manager: EntityManager): Promise<string[]> {
    const enabled = manager
      .createQueryBuilder(WebhookEndpoint, 'endpoint')
      .select('endpoint.id', 'id')
      .where('endpoint.disabled_at IS NULL')
      .orderBy('endpoint.id');
    if (endpointId === undefined)
      enabled.innerJoin(
        WebhookSubscription,
        'told',
        'told.endpoint_id = endpoint.id AND told.event = :event',
        {
          event,
        },
      );
    else enabled.andWhere('endpoint.id = :endpointId', { endpointId });
    if (clientId !== undefined) enabled.andWhere('endpoint.client_id = :clientId', { clientId });
    return (await enabled.getRawMany<{ id: string }>()).map(({ id }) => id);
  }
}
