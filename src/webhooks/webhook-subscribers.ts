import { Injectable } from '@nestjs/common';
import { DataVersion } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { OneAtATime } from '../database/one-at-a-time.js';

/** Whether any enabled endpoint subscribes to the event `?1`, of the client `?2` if that is not null. */
const ANY = `SELECT 1 AS found FROM webhook_subscriptions JOIN webhook_endpoints ON webhook_endpoints.id = webhook_subscriptions.endpoint_id
  WHERE webhook_subscriptions.event = ?1 AND webhook_endpoints.disabled_at IS NULL
    AND (CAST(?2 AS TEXT) IS NULL OR webhook_endpoints.client_id = ?2) LIMIT 1`;

/** Knows which endpoints are told of an event. */
@Injectable()
export class WebhookSubscribers {
  private readonly known = new Map<string, { readonly version: number; readonly isAny: boolean }>();
  private readonly reads = new Map<string, OneAtATime<boolean>>();

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
    if (!read) this.reads.set(event, (read = new OneAtATime(() => this.isAnyNow(event))));
    const isAny = await read.run();
    if (version !== undefined) this.known.set(event, { version, isAny });
    return isAny;
  }

  /** Whether any enabled endpoint subscribes, of this client or of any, as the caller's transaction sees it. */
  async isAnyNow(event: string, clientId: string | null = null): Promise<boolean> {
    return (await this.reader.first(ANY, [event, clientId])) !== undefined;
  }
}
