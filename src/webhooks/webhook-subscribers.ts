import { Injectable } from '@nestjs/common';
import { DataVersion } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { OneAtATime } from '../database/one-at-a-time.js';

/** Whether any enabled endpoint subscribes to the event `?1`, of the client `?2` if that is not null. */
const ANY = `SELECT 1 AS found FROM webhook_subscriptions JOIN webhook_endpoints ON webhook_endpoints.id = webhook_subscriptions.endpoint_id
  WHERE webhook_subscriptions.event = ?1 AND webhook_endpoints.disabled_at IS NULL
    AND (CAST(?2 AS TEXT) IS NULL OR webhook_endpoints.client_id = ?2) LIMIT 1`;

/** Returns whether any endpoint subscribes to an event. */
@Injectable()
export class WebhookSubscribers {
  private readonly known = new Map<string, { readonly version: number; readonly isAny: boolean }>();
  private readonly reads = new Map<string, OneAtATime<boolean>>();

  constructor(
    private readonly reader: JsonReader,
    private readonly dataVersion: DataVersion,
  ) {}

  /**
   * Whether any enabled endpoint subscribes; an endpoint that any process committed before the call counts. The result is cached
   * where the DataVersion reports every commit at once; elsewhere concurrent callers share one query. Not for callers in a
   * transaction: it does not see their own writes.
   */
  async isAny(event: string): Promise<boolean> {
    // Read the version first, so that a commit during the query invalidates what is cached.
    const version = this.dataVersion.isComplete ? this.dataVersion.current('keys') : undefined;
    const known = this.known.get(event);
    if (known && version !== undefined && known.version === version) return known.isAny;
    let read = this.reads.get(event);
    if (!read) this.reads.set(event, (read = new OneAtATime(() => this.isAnyNow(event))));
    const isAny = await read.run();
    if (version !== undefined) this.known.set(event, { version, isAny });
    return isAny;
  }

  /** Whether any enabled endpoint of this client, or of any, subscribes, as the caller's transaction sees it. */
  async isAnyNow(event: string, clientId: string | null = null): Promise<boolean> {
    return (await this.reader.first(ANY, [event, clientId])) !== undefined;
  }
}
