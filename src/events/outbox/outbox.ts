import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost, MetadataScanner } from '@nestjs/core';
import { Clock } from '../../core/time/clock.js';
import { Transactions } from '../../database/transactions/transactions.js';
import type { BackgroundLoop } from '../jobs/background-loop.js';
import { BackgroundLoops } from '../jobs/background-loops.js';
import { providerMethods } from '../jobs/provider-methods.js';
import { DurableListener, type Handler } from './durable-listener.js';
import { OutboxMetrics } from './outbox-metrics.js';
import { OutboxStore } from './outbox-store.js';
import { textOfEventData } from './event-data.js';

const MAX_KEY_LENGTH = 255;

/** Metadata key of a method's durable events. */
export const DURABLE_LISTENER = Symbol('durable listener');

/** One event that a durable listener handles. */
export interface DurableListening {
  readonly event: string;
  /** Name of the listener in the database. */
  readonly listener: string;
}

/**
 * Stores durable events in the database until their listeners have handled them, at least once and in order for each key. A process that
 * listens for requests delivers them; the command line only publishes.
 */
@Injectable()
export class Outbox implements OnApplicationBootstrap {
  private readonly logger = new Logger('Events');
  /** Handlers by listener, then by event. */
  private known: ReadonlyMap<string, ReadonlyMap<string, Handler>> | undefined;
  private loops: readonly BackgroundLoop[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly host: HttpAdapterHost,
    private readonly store: OutboxStore,
    private readonly background: BackgroundLoops,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly metrics: OutboxMetrics,
  ) {}

  onApplicationBootstrap(): void {
    const { store, transactions, metrics, clock } = this;
    this.loops = [...this.listeners].map(([name, handlers]) =>
      this.background.add(new DurableListener(name, handlers, store, transactions, metrics, clock)),
    );
    metrics.show(
      [...this.listeners].flatMap(([listener, handlers]) =>
        [...handlers.keys()].map((event) => ({ listener, event })),
      ),
    );
    this.host.listen$.subscribe(() => void this.logOrphans());
  }

  /**
   * Stores an event for its listeners, in the caller's transaction if there is one. Throws TypeError or RangeError for data that cannot be
   * stored.
   */
  async add(event: string, key: string, data: object): Promise<void> {
    if (key.length > MAX_KEY_LENGTH)
      throw new RangeError(`A key of ${event} is longer than ${MAX_KEY_LENGTH}.`);
    const text = textOfEventData(data);
    const listeners = [...this.listeners].flatMap(([name, handlers]) => (handlers.has(event) ? [name] : []));
    if (listeners.length === 0) return;
    await this.store.add(listeners, event, key, text);
    this.transactions.afterCommit(() => {
      for (const loop of this.loops) loop.wake();
    });
  }

  /** Delivers committed events that are due, and waits for that. Never rejects. */
  async deliver(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.run()));
  }

  get names(): string[] {
    return [...this.listeners.keys()];
  }

  private get listeners(): ReadonlyMap<string, ReadonlyMap<string, Handler>> {
    return (this.known ??= this.find());
  }

  private find(): ReadonlyMap<string, ReadonlyMap<string, Handler>> {
    const found = new Map<string, Map<string, Handler>>();
    const methods = providerMethods<DurableListening[]>(this.discovery, this.scanner, DURABLE_LISTENER);
    for (const { declared, source, call } of methods) {
      for (const { event, listener } of declared) {
        const handlers = found.get(listener) ?? new Map<string, Handler>();
        if (handlers.has(event))
          throw new Error(`Listener "${listener}" of ${event} is declared twice, also by ${source}.`);
        found.set(listener, handlers.set(event, call));
      }
    }
    return found;
  }

  /** Nothing handles the events of a listener that was renamed or removed. */
  private async logOrphans(): Promise<void> {
    try {
      for (const [listener, count] of await this.store.byListener('waiting'))
        if (!this.listeners.has(listener))
          this.logger.warn(
            `${count} events are waiting for listener ${listener}, which does not exist in this version`,
          );
    } catch {
      // The database is unavailable, which is already logged.
    }
  }
}
