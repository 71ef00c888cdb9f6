import { Global, Injectable, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Transactions } from '../database/transactions/transactions.js';
import { checkDeclaredName, declarationFault, decorated } from '../core/declaration-faults.js';
import { TransientMap } from '../core/transient-map.js';
import { BackgroundLoops } from './jobs/background-loops.js';
import { JobMetrics } from './jobs/job-metrics.js';
import { Jobs } from './jobs/jobs.js';
import { Leases } from './jobs/leases.js';
import type { Delivery } from './outbox/durable-listener.js';
import { OutboxMetrics } from './outbox/outbox-metrics.js';
import { OutboxStore } from './outbox/outbox-store.js';
import { DURABLE_LISTENER, type DurableListening, Outbox } from './outbox/outbox.js';

/** The type of the event's data; it exists only for the compiler. */
declare const TOLD: unique symbol;

/** Something that can happen: its name, unique in the service, and the type of what its listeners are given. */
export interface DomainEvent<Told extends object> {
  /** Such as `pet.created`. */
  readonly name: string;
  readonly [TOLD]?: Told;
}

/** How a durable event is stored. */
export interface DurableOptions<Told extends object> {
  /** The event is stored in the database until every listener has handled it. */
  readonly durable: true;
  /** Events of one key reach each listener in their order; as text at most 255 characters. Such as the id of the row. */
  readonly key: (told: Told) => string | number | bigint;
}

/** An event that is not lost when a process dies or a listener fails. */
export interface DurableEvent<Told extends object> extends DomainEvent<Told>, DurableOptions<Told> {}

const declared = new Set<string>();

/**
 * Declares an event that a feature publishes: `defineEvent<PetCreated>('pet.created')`. A name that is malformed, or declared by
 * another feature already, stops the start.
 */
export function defineEvent<Told extends object>(name: string): DomainEvent<Told>;
/** Declares a durable event: listeners get it at least once, whatever happens to processes and to them. */
export function defineEvent<Told extends object>(
  name: string,
  options: DurableOptions<Told>,
): DurableEvent<Told>;
export function defineEvent(name: string, options?: DurableOptions<object>): DomainEvent<object> {
  checkDeclaredName('Event', name, 'subject.verb', 'pet.created');
  if (declared.has(name)) declarationFault(`Event "${name}" is declared twice. Rename one of them.`);
  declared.add(name);
  return { name, ...options };
}

/** Publishes events to their listeners. */
@Injectable()
export class DomainEvents {
  /** Events whose listeners have not been called yet, and calls that have not ended. */
  private scheduled = 0;
  private readonly running = new TransientMap<Promise<unknown>, true>();

  constructor(
    private readonly emitter: EventEmitter2,
    private readonly transactions: Transactions,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Keeps a durable event for its listeners, in the transaction that the caller takes part in; outside of any it is committed
   * at once. Rejects when it cannot be kept: await it, so that the change is rolled back with it.
   */
  publish<Told extends object>(event: DurableEvent<Told>, told: NoInfer<Told>): Promise<void>;
  /**
   * Calls the listeners of an event once the transaction that the caller takes part in is committed (never when it is rolled
   * back), and at once outside of any. It does so in a later turn of the event loop, so that no listener can delay or fail the
   * request that published it. A listener that throws is logged.
   */
  publish<Told extends object>(event: DomainEvent<Told>, told: NoInfer<Told>): void;
  publish(event: DomainEvent<object>, told: object): void | Promise<void> {
    return isDurable(event) ? this.keep(event, told) : this.tell(event, told);
  }

  private async keep(event: DurableEvent<object>, told: object): Promise<void> {
    await this.outbox.add(event.name, String(event.key(told)), told);
    this.tell(event, told);
  }

  private tell({ name }: DomainEvent<object>, told: object): void {
    if (this.emitter.listenerCount(name) === 0) return;
    this.transactions.afterCommit(() => {
      this.scheduled += 1;
      setImmediate(() => {
        this.scheduled -= 1;
        // What a listener throws has been logged by @nestjs/event-emitter.
        const calls = this.emitter.emitAsync(name, told).catch(() => undefined);
        this.running.set(calls, true);
        void calls.then(() => this.running.delete(calls));
      });
    });
  }

  /** Waits until the listeners of all events that were published have ended, and those that they published: for tests. */
  async settled(): Promise<void> {
    while (this.scheduled > 0 || this.running.size > 0) {
      await Promise.all(this.running.all().map(([calls]) => calls));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.outbox.deliver();
  }
}

/** How a durable event finds its listener again after a restart. */
export interface DurableListenerOptions {
  /** Name of the listener in the database, such as `mailer`: lower-case letters, digits, `_`, `.`, `-`. Never change it. */
  readonly listener: string;
}

/**
 * Makes a provider's method a listener of a durable event; the method takes what publish() was given, and the Delivery. It is
 * given an event again until it succeeds, 20 times at most; see docs/guides/jobs-and-events.md. A malformed name stops the start.
 */
export function OnDomainEvent<Told extends object>(
  event: DurableEvent<Told>,
  options: DurableListenerOptions,
): ListenerDecorator<[told: Told, delivery: Delivery]>;
/** Makes a provider's method a listener of an event; the method takes what publish() was given. */
export function OnDomainEvent<Told extends object>(
  event: DomainEvent<Told> & { readonly durable?: never },
): ListenerDecorator<[told: Told]>;
export function OnDomainEvent(
  event: DomainEvent<object> | undefined,
  options?: DurableListenerOptions,
): ListenerDecorator<never> {
  return (target, key, descriptor) => {
    const fault = (text: string) => declarationFault(`${decorated(target, key)}: ${text}`);
    if (!event)
      return fault('the event of its @OnDomainEvent() is undefined. Is its file imported in a circle?');
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
