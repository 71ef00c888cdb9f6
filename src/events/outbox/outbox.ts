import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService, HttpAdapterHost, MetadataScanner } from '@nestjs/core';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { Transactions } from '../../database/transactions.js';
import { Leases } from '../jobs/leases.js';
import { providerMethods } from '../jobs/provider-methods.js';
import { Running } from '../jobs/running.js';
import { outsideOfSpans } from '../../core/tracing/spans.js';
import { type Delivery, ListenerQueue } from './listener-queue.js';
import { OutboxMetrics } from './outbox-metrics.js';
import { OutboxStore } from './outbox-store.js';
import { toldText } from './told-json.js';

/** How often events that another process has published, or that are to be tried again, are looked for, in milliseconds. */
const PERIOD_MS = 1_000;
const LONGEST_KEY = 255;

/** Where a method keeps which durable events it listens to. */
export const DURABLE_LISTENER = Symbol('durable listener');

/** One event that a durable listener listens to. */
export interface DurableListening {
  readonly event: string;
  /** What the listener is called in the database. */
  readonly listener: string;
}

type Handler = (told: object, delivery: Delivery) => unknown;

/**
 * Keeps durable events in the database until their listeners have handled them: at least once, those of one key in their order.
 * A process that listens for requests delivers; the command line only publishes.
 */
@Injectable()
export class Outbox implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Events');
  private readonly running = new Running();
  /** By listener, what handles each event. */
  private known: ReadonlyMap<string, ReadonlyMap<string, Handler>> | undefined;
  private queues: readonly ListenerQueue[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isServing = false;
  private isWoken = false;
  private began = 0;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly host: HttpAdapterHost,
    private readonly store: OutboxStore,
    private readonly leases: Leases,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly metrics: OutboxMetrics,
  ) {}

  onApplicationBootstrap(): void {
    this.queues = [...this.listeners].map(([name, handlers]) => {
      const call = (event: string, told: object, delivery: Delivery): unknown => {
        const handler = handlers.get(event);
        if (!handler) throw new Error(`Listener ${name} does not listen to ${event} any more.`);
        return handler(told, delivery);
      };
      const { store, leases, transactions, clock } = this;
      return new ListenerQueue(
        { name, call },
        {
          store,
          leases,
          transactions,
          clock,
          count: (listener, outcome) => this.metrics.count(listener, outcome),
          stopping: this.running.signal,
          isStopping: () => this.running.isStopping,
        },
      );
    });
    this.metrics.show(
      [...this.listeners].flatMap(([listener, handlers]) =>
        [...handlers.keys()].map((event) => ({ listener, event })),
      ),
    );
    this.host.listen$.subscribe(() => this.begin());
  }

  async onModuleDestroy(): Promise<void> {
    await this.stop();
  }

  /**
   * Keeps an event for its listeners, in the caller's transaction if there is one. Throws TypeError or RangeError for what it
   * cannot keep.
   */
  async add(event: string, key: string, told: object): Promise<void> {
    if (key.length > LONGEST_KEY) throw new RangeError(`A key of ${event} is longer than ${LONGEST_KEY}.`);
    const text = toldText(told);
    const listeners = [...this.listeners].flatMap(([name, handlers]) => (handlers.has(event) ? [name] : []));
    if (listeners.length === 0) return;
    await this.store.add(listeners, event, key, text);
    this.transactions.afterCommit(() => this.wake());
  }

  /** Delivers what is committed and due by the clock, and waits for it. Never rejects. */
  async deliver(): Promise<void> {
    const name = `delivery ${(this.began += 1)}`;
    // A caller's own transaction would show events that it may yet undo, and wait for itself.
    await outsideOfSpans(() =>
      this.transactions.outside(() =>
        this.running.run(name, async () => {
          await Promise.all(this.queues.map((queue) => queue.deliver()));
        }),
      ),
    );
  }

  /** The names of the listeners. */
  get names(): string[] {
    return [...this.listeners.keys()];
  }

  /** Begins no delivery any more; waits for those that run, at most SHUTDOWN_TIMEOUT_MS, then aborts them. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running.stop(this.settings.shutdownTimeoutMs);
  }

  private begin(): void {
    if (this.running.isStopping) return;
    this.isServing = true;
    void this.tellOfOrphans();
    if (this.queues.length === 0) return;
    this.timer = setInterval(() => void this.deliver(), PERIOD_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
    this.wake();
  }

  /** Delivers in a later turn of the event loop: once for all events that were committed in this one. */
  private wake(): void {
    if (!this.isServing || this.isWoken) return;
    this.isWoken = true;
    setImmediate(() => {
      this.isWoken = false;
      void this.deliver();
    });
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

  /** Events of a listener that was renamed or removed wait for nobody. */
  private async tellOfOrphans(): Promise<void> {
    try {
      for (const [listener, count] of await this.store.waiting())
        if (!this.listeners.has(listener))
          this.logger.warn(`${count} events wait for listener ${listener}, which this version does not have`);
    } catch {
      // The database is away; its own log tells.
    }
  }
}
