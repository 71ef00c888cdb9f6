import { Global, Injectable, Module } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Transactions } from '../database/transactions.js';

/** What an event's listeners are given; it exists in types alone. */
declare const TOLD: unique symbol;

/** Something that can happen: its name, unique in the service, and the type of what its listeners are given. */
export interface DomainEvent<Told extends object> {
  /** Such as `pet.created`. */
  readonly name: string;
  readonly [TOLD]?: Told;
}

const NAME = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;
const declared = new Set<string>();

/**
 * Declares an event that a feature publishes: `defineEvent<PetCreated>('pet.created')`. Throws when its name is malformed or
 * already declared by another feature: a clash stops the start.
 */
export function defineEvent<Told extends object>(name: string): DomainEvent<Told> {
  if (!NAME.test(name)) throw new Error(`Event "${name}" is not of the form subject.happened.`);
  if (declared.has(name)) throw new Error(`Event "${name}" is declared twice.`);
  declared.add(name);
  return { name };
}

/** The names of all declared events. */
export function declaredEvents(): ReadonlySet<string> {
  return declared;
}

/** Publishes events to the listeners in this process. */
@Injectable()
export class DomainEvents {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Calls the listeners of an event once the transaction that the caller takes part in is committed (never when it is rolled
   * back), and at once outside of any. It does so in a later turn of the event loop, so that no listener can delay or fail the
   * request that published it. A listener that throws is logged.
   */
  publish<Told extends object>({ name }: DomainEvent<Told>, told: NoInfer<Told>): void {
    if (this.emitter.listenerCount(name) === 0) return;
    this.transactions.afterCommit(() => setImmediate(() => this.emitter.emit(name, told)));
  }
}

/** Makes a provider's method a listener of an event; the method takes what publish() was given. */
export function OnDomainEvent<Told extends object>(event: DomainEvent<Told>) {
  return <Method extends (told: Told) => unknown>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    OnEvent(event.name)(target, key, descriptor);
  };
}

/** Provides DomainEvents to every module. */
@Global()
@Module({
  imports: [EventEmitterModule.forRoot()],
  providers: [DomainEvents],
  exports: [DomainEvents],
})
export class EventsModule {}
