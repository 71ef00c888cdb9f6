import { Injectable } from '@nestjs/common';
import { EventEmitter2, OnEvent } from '@nestjs/event-emitter';
import { Transactions } from '../database/transactions.js';

/**
 * Every event of this process, name to what it tells. The folder that publishes an event adds it by declaration merging:
 * `declare module '…/events/domain-events.js' { interface DomainEventMap { 'pet.created': PetCreated } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- it is filled elsewhere
export interface DomainEventMap {}

/** Name of an event. */
export type DomainEventName = keyof DomainEventMap;

/** Tells the modules of this process what has happened. */
@Injectable()
export class DomainEvents {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Calls the listeners of an event once the transaction that the caller takes part in is committed, never when it is rolled
   * back, and at once outside of any. It does so in a later turn: no listener can delay or fail the request that brought it
   * about. A listener that throws is logged.
   */
  publish<Name extends DomainEventName>(name: Name, event: DomainEventMap[Name]): void {
    if (this.emitter.listenerCount(name) === 0) return;
    this.transactions.afterCommit(() => setImmediate(() => this.emitter.emit(name, event)));
  }
}

type Listener<Name extends DomainEventName> = (event: DomainEventMap[Name]) => unknown;

/** Makes a provider's method a listener of an event; the method takes what the event tells. */
export function OnDomainEvent<Name extends DomainEventName>(name: Name) {
  return <Method extends Listener<Name>>(
    target: object,
    key: string,
    descriptor: TypedPropertyDescriptor<Method>,
  ): void => {
    OnEvent(name)(target, key, descriptor);
  };
}
