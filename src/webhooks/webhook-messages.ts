import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { stringify } from 'lossless-json';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../core/time/clock.js';
import { CacheNeutralWrites } from '../database/cache-neutral-writes.js';
import { Transactions } from '../database/transactions.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import type { WebhookEvent } from './webhook-events.js';
import { WebhookMessage } from './webhook-message.entity.js';
import { type Addressee, WebhookSubscribers } from './webhook-subscribers.js';
import { WebhookWake } from './webhook-wake.js';

/** Longest body of a message, in UTF-16 code units. */
export const LONGEST_PAYLOAD = 65_536;
/** Deliveries that one INSERT writes. */
const BATCH = 500;

/** Whom a message is for, and what it is. */
export interface MessageOptions extends Addressee {
  /**
   * Computed from what happened, such as `<key id>/7d`: of one event and id there is one message, whoever finds out again what
   * it tells, another instance or the same after a restart.
   */
  readonly id?: string;
}

/** Sends messages to the endpoints of clients: at least once, to each endpoint in order (docs/webhooks.md). */
@Injectable()
export class WebhookMessages {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly writes: CacheNeutralWrites,
    private readonly subscribers: WebhookSubscribers,
    private readonly wake: WebhookWake,
    private readonly clock: Clock,
  ) {}

  /**
   * Writes a message for every enabled endpoint that subscribes to the event, in the transaction that the caller takes part in,
   * otherwise in one of its own; writes nothing when there is none. It is sent after the commit. With `clientId` it is for endpoints of
   * that client, with `endpointId` for that one alone, whatever that subscribes to. `data` must be JSON; a `bigint` is written as an
   * exact integer. Throws RangeError when the body is longer than LONGEST_PAYLOAD; await it, so that the change is rolled back with it.
   */
  async send<Data extends object>(
    event: WebhookEvent<Data>,
    data: NoInfer<Data>,
    to: MessageOptions = {},
  ): Promise<void> {
    if (this.transactions.isInside()) return this.write(event.name, data, to, this.dataSource.manager);
    if (to.endpointId === undefined && !(await this.subscribers.isAny(event.name))) return;
    await this.writes.run((manager) => this.write(event.name, data, to, manager));
  }

  /**
   * Runs a change and sends what `dataOf` makes of its result: in one transaction, so that both are committed or neither. While
   * nobody subscribes the change runs by itself, in no transaction that it does not begin.
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
    if (!(await this.subscribers.isAny(event.name))) return change();
    return this.dataSource.transaction((manager) => this.transactions.insideOf(manager, both));
  }

  private async write(
    event: string,
    data: object,
    to: MessageOptions,
    manager: EntityManager,
  ): Promise<void> {
    const endpoints = await this.subscribers.of(event, to, manager);
    if (endpoints.length === 0) return;
    const id = idOf(event, to.id);
    if (to.id !== undefined && (await this.isThere(id, manager))) return;
    const createdAt = new Date(this.clock.now()).toISOString();
    const payload = payloadOf(event, createdAt, data);
    await manager.insert(WebhookMessage, { id, event, payload, createdAt });
    const deliveries = endpoints.map((endpointId) => ({
      endpointId,
      messageId: id,
      state: 'waiting' as const,
      attempts: 0,
      attemptedAt: null,
      status: null,
      error: null,
    }));
    for (let at = 0; at < deliveries.length; at += BATCH)
      await manager.insert(WebhookDelivery, deliveries.slice(at, at + BATCH));
    this.transactions.afterCommit(() => this.wake.ring());
  }

  /** Whether a message was written; whoever else would write it waits until this transaction ends. */
  private async isThere(id: string, manager: EntityManager): Promise<boolean> {
    await this.transactions.claim(`webhook message ${id}`);
    return manager.existsBy(WebhookMessage, { id });
  }
}

function idOf(event: string, id: string | undefined): string {
  const digits =
    id === undefined
      ? randomBytes(16).toString('hex')
      : createHash('sha256').update(`${event}\0${id}`).digest('hex').slice(0, 32);
  return `msg_${digits}`;
}

function payloadOf(type: string, timestamp: string, data: object): string {
  const text = stringify({ type, timestamp, data }) ?? '';
  if (text.length > LONGEST_PAYLOAD)
    throw new RangeError(
      `A message of ${type} has a body of ${text.length} characters; ${LONGEST_PAYLOAD} are allowed.`,
    );
  return text;
}
