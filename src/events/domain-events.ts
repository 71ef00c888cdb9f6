import { Global, Injectable, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Transactions } from '../database/transactions/transactions.js';
import { checkDeclaredName, invalidDeclaration, decorated } from '../core/declaration-errors.js';
import { TransientMap } from '../core/transient-map.js';
import { BackgroundLoops } from './jobs/background-loops.js';
import { JobMetrics } from './jobs/job-metrics.js';
import { Jobs } from './jobs/jobs.js';
import { Leases } from './jobs/leases.js';
import type { Delivery } from './outbox/durable-listener.js';
import { OutboxMetrics } from './outbox/outbox-metrics.js';
import { OutboxStore } from './outbox/outbox-store.js';
import { DURABLE_LISTENER, type DurableListening, Outbox } from './outbox/outbox.js';

/** The type of the event's data, which exists only at compile time. */
declare const DATA: unique symbol;

/** An event: its name, unique in the service, and the type of its data. */
export interface DomainEvent<Data extends object> {
  /** Such as `pet.created`. */
  readonly name: string;
  readonly [DATA]?: Data;
}

/** How a durable event is stored. */
export interface DurableOptions<Data extends object> {
  /** Stores the event in the database until every listener has handled it. */
  readonly durable: true;
  /** Each listener receives the events of one key in order. At most 255 characters as text, for example the row's id. */
  readonly key: (data: Data) => string | number | bigint;
}

/** An event that is not lost if a process dies or a listener fails. */
export interface DurableEvent<Data extends object> extends DomainEvent<Data>, DurableOptions<Data> {}

const declared = new Set<string>();

/**
 * Declares a feature's event: `defineEvent<PetCreated>('pet.created')`. The service does not start if the name is malformed or already
 * declared by another feature.
 */
export function defineEvent<Data extends object>(name: string): DomainEvent<Data>;
/** Declares a durable event, which is delivered to listeners at least once, even after crashes and errors. */
export function defineEvent<Data extends object>(
  name: string,
  options: DurableOptions<Data>,
): DurableEvent<Data>;
export function defineEvent(name: string, options?: DurableOptions<object>): DomainEvent<object> {
  checkDeclaredName('Event', name, 'subject.verb', 'pet.created');
  if (declared.has(name)) invalidDeclaration(`Event "${name}" is declared twice. Rename one of them.`);
  declared.add(name);
  return { name, ...options };
}

/** Publishes events to their listeners. */
@Injectable()
export class DomainEvents {
  /** Events whose listeners have not been called yet, and calls that are still running. */
  private scheduled = 0;
  private readonly running = new TransientMap<Promise<unknown>, true>();

  constructor(
    private readonly emitter: EventEmitter2,
    private readonly transactions: Transactions,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Stores a durable event for its listeners in the caller's transaction; without one, it is committed immediately. Rejects if it cannot be
   * stored. Await it, so that the change is rolled back as well.
   */
  publish<Data extends object>(event: DurableEvent<Data>, data: NoInfer<Data>): Promise<void>;
  /**
   * Calls the event's listeners after the caller's transaction has been committed (never if it is rolled back), or immediately without a
   * transaction. It does so in a later turn of the event loop, so that no listener can delay or fail the request. An error of a listener is
   * logged.
   */
  publish<Data extends object>(event: DomainEvent<Data>, data: NoInfer<Data>): void;
  publish(event: DomainEvent<object>, data: object): void | Promise<void> {
    return isDurable(event) ? this.store(event, data) : this.emit(event, data);
  }

  private async store(event: DurableEvent<object>, data: object): Promise<void> {
    await this.outbox.add(event.name, String(event.key(data)), data);
    this.emit(event, data);
  }

  private emit({ name }: DomainEvent<object>, data: object): void {
    if (this.emitter.listenerCount(name) === 0) return;
    this.transactions.afterCommit(() => {
      this.scheduled += 1;
      setImmediate(() => {
        this.scheduled -= 1;
        // @nestjs/event-emitter has already logged errors of listeners.
        const calls = this.emitter.emitAsync(name, data).catch(() => undefined);
        this.running.set(calls, true);
        void calls.then(() => this.running.delete(calls));
      });
    });
  }

  /** Waits until all listeners have finished, including those of events that listeners publish. For tests. */
  async settled(): Promise<void> {
    while (this.scheduled > 0 || this.running.size > 0) {
      await Promise.all(this.running.all().map(([calls]) => calls));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.outbox.deliver();
  }
}

/** Identifies a durable event's listener across restarts. */
export interface DurableListenerOptions {
  /** Name of the listener in the database, such as `mailer`: lower-case letters, digits, `_`, `.`, `-`. Never change it. */
  readonly listener: string;
}

/**
 * Makes a provider's method a listener of a durable event. The method receives the published data and the Delivery. An event is retried
 * until the method succeeds, 20 times at most; see docs/guides/jobs-and-events.md. The service does not start if the name is malformed.
 */
export function OnDomainEvent<Data extends object>(
  event: DurableEvent<Data>,
  options: DurableListenerOptions,
): ListenerDecorator<[data: Data, delivery: Delivery]>;
/** Makes a provider's method a listener of an event. The method receives the published data. */
export function OnDomainEvent<Data extends object>(
  event: DomainEvent<Data> & { readonly durable?: never },
): ListenerDecorator<[data: Data]>;
export function OnDomainEvent(
  event: DomainEvent<object> | undefined,
  options?: DurableListenerOptions,
): ListenerDecorator<never> {
  return (target, key, descriptor) => {
    const error = (text: string) => invalidDeclaration(`${decorated(target, key)}: ${text}`);
    if (!event)
      return error(
        'the event of its @OnDomainEvent() is undefined. This is usually caused by a circular import.',
      );
    if (options === undefined) return OnEvent(event.name)(target, key, descriptor);
    const { value } = descriptor;
    const { listener } = options;
    checkDeclaredName(`${decorated(target, key)}: the listener`, listener, 'name', 'adoptions.mail');
    if (!value) return;
    const before = (Reflect.getMetadata(DURABLE_LISTENER, value) ?? []) as DurableListening[];
    Reflect.defineMetadata(DURABLE_LISTENER, [...before, { event: event.name, listener }], value);
  };
}

type ListenerDecorator<Parameters extends unknown[]> = <Method extends (...args: Parameters) => unknown>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

function isDurable(event: DomainEvent<object>): event is DurableEvent<object> {
  return 'durable' in event;
}

/** Provides DomainEvents, the Outbox, Jobs and Leases to every module. */
@Global()
@Module({
  imports: [DiscoveryModule, EventEmitterModule.forRoot()],
  providers: [BackgroundLoops, DomainEvents, JobMetrics, Jobs, Leases, Outbox, OutboxMetrics, OutboxStore],
  exports: [BackgroundLoops, DomainEvents, Jobs, Leases, Outbox, OutboxStore],
})
export class EventsModule {}
