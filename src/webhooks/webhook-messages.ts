import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { stringify } from 'lossless-json';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../core/time/clock.js';
import { DataVersion } from '../database/data-version.js';
import { JsonReader } from '../database/database.js';
import { OneAtATime } from '../database/one-at-a-time.js';
import { Transactions } from '../database/transactions/transactions.js';
import { BackgroundLoops } from '../events/jobs/background-loops.js';
import { shownAs } from '../http/operations/declared-shape.js';
import { WEBHOOKS_LEASE } from './due-deliveries.js';
import type { WebhookEvent } from './webhook-events.js';
import { WebhookFanOut, WebhookMessage } from './webhook-message.entity.js';

/** Maximum length of a message's body, in UTF-16 code units. */
export const MAX_PAYLOAD_LENGTH = 65_536;

/** Whether any enabled endpoint, of the client `?2` if not null, subscribes to the event `?1`. */
const SUBSCRIBED = `SELECT 1 AS found FROM webhook_subscriptions JOIN webhook_endpoints ON webhook_endpoints.id = webhook_subscriptions.endpoint_id
  WHERE webhook_subscriptions.event = ?1 AND webhook_endpoints.disabled_at IS NULL
    AND (CAST(?2 AS TEXT) IS NULL OR webhook_endpoints.client_id = ?2) LIMIT 1`;

/** Recipients and id of a message. */
export interface MessageOptions {
  /** Only endpoints of this client receive it; by default, every endpoint that subscribes to the event. */
  readonly clientId?: string;
  /**
   * Identifies the occurrence, such as `<key id>/7d`. There is one message per event and id, even if another instance, or this one after a
   * restart, detects the same occurrence again.
   */
  readonly id?: string;
}

/** Sends messages to clients' endpoints, at least once and in order for each endpoint (docs/webhooks.md). */
@Injectable()
export class WebhookMessages {
  /** Whether any endpoint subscribes to an event, with the version of the data. */
  private readonly cached = new Map<string, { readonly version: number; readonly isAny: boolean }>();
  private readonly reads = new Map<string, OneAtATime<boolean>>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly reader: JsonReader,
    private readonly dataVersion: DataVersion,
    private readonly loops: BackgroundLoops,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes a message for the enabled endpoints that subscribe to the event, in the caller's transaction or a new one; writes nothing if
   * none subscribes. It is sent after the commit. If the event has a class, `data` is reduced to the members that the class declares; a
   * `bigint` becomes an exact integer. Throws RangeError if the body is longer than MAX_PAYLOAD_LENGTH. Await it, so that the change is
   * rolled back as well.
   */
  async send<Data extends object>(
    event: WebhookEvent<Data>,
    data: NoInfer<Data>,
    to: MessageOptions = {},
  ): Promise<void> {
    if (this.transactions.isInside()) return this.write(event, data, to, this.dataSource.manager);
    if (!(await this.isSubscribed(event.name))) return;
    await this.transactions.uncached((manager) => this.write(event, data, to, manager));
  }

  /**
   * Makes a change and sends `dataOf` its result, in one transaction, so that either both are committed or neither is. If no endpoint
   * subscribes, the change runs without this transaction.
   */
  async sendWith<Data extends object, T>(
    event: WebhookEvent<Data>,
    change: () => Promise<T>,
    dataOf: (result: T) => NoInfer<Data>,
    to: MessageOptions = {},
  ): Promise<T> {
    const both = async (): Promise<T> => {
      const result = await change();
      await this.send(event, dataOf(result), to);
      return result;
    };
    if (this.transactions.isInside()) return both();
    if (!(await this.isSubscribed(event.name))) return change();
    return this.dataSource.transaction(both);
  }

  private async write(
    { name, data: dto }: WebhookEvent<object>,
    data: object,
    to: MessageOptions,
    manager: EntityManager,
  ): Promise<void> {
    if (!(await this.isSubscribedNow(name, to.clientId))) return;
    const message = messageOf(name, dto ? shownAs(dto, data) : data, this.clock.instant(), to.id);
    if (to.id !== undefined && (await this.exists(message.id, manager))) return;
    await manager.insert(WebhookMessage, message);
    await manager.insert(WebhookFanOut, { messageId: message.id, clientId: to.clientId ?? null });
    this.transactions.afterCommit(() => this.loops.wake(WEBHOOKS_LEASE));
  }

  /**
   * Whether any enabled endpoint subscribes, including endpoints that any process committed before the call. The result is cached if the
   * DataVersion is known without a query; otherwise concurrent callers share a query. Not for callers in a transaction, because it does not
   * see their own writes.
   */
  private async isSubscribed(event: string): Promise<boolean> {
    // Read the version first, so that a commit during the query invalidates the cached result. Every commit of a transaction that writes
    // endpoints changes it; single inserted rows alone do not.
    const { rows: version } = this.dataVersion.versions();
    const cached = this.cached.get(event);
    if (cached && version !== undefined && cached.version === version) return cached.isAny;
    let read = this.reads.get(event);
    if (!read) this.reads.set(event, (read = new OneAtATime(() => this.isSubscribedNow(event))));
    const hasAny = await read.run();
    if (version !== undefined) this.cached.set(event, { version, isAny: hasAny });
    return hasAny;
  }

  /** Whether any enabled endpoint of this client, or of any client, subscribes, as seen by the caller's transaction. */
  private async isSubscribedNow(event: string, clientId: string | null = null): Promise<boolean> {
    return (await this.reader.first(SUBSCRIBED, [event, clientId])) !== undefined;
  }

  /** Whether the message exists; another transaction that would write it waits until this one ends. */
  private async exists(id: string, manager: EntityManager): Promise<boolean> {
    await this.transactions.lock(`webhook message ${id}`);
    return manager.existsBy(WebhookMessage, { id });
  }
}

/** A message about something that happened at a time (ISO 8601 text in UTC). Throws RangeError if its body is too long. */
export function messageOf(event: string, data: object, createdAt: string, id?: string): WebhookMessage {
  const digits =
    id === undefined
      ? randomBytes(16).toString('hex')
      : createHash('sha256').update(`${event}\0${id}`).digest('hex').slice(0, 32);
  return { id: `msg_${digits}`, event, payload: payloadOf(event, createdAt, data), createdAt };
}

function payloadOf(type: string, timestamp: string, data: object): string {
  const text = stringify({ type, timestamp, data }) ?? '';
  if (text.length > MAX_PAYLOAD_LENGTH)
    throw new RangeError(
      `A message of ${type} has a body of ${text.length} characters; ${MAX_PAYLOAD_LENGTH} are allowed.`,
    );
  return text;
}
