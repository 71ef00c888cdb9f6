import type { IncomingMessage } from 'node:http';

/**
 * A value that one part of the service keeps on a request for those behind it, such as who sends it. Each slot has a symbol
 * of its own, so that no two parts, and no other middleware, can use the same property by accident.
 */
export class RequestSlot<T> {
  private readonly key: symbol;

  /** `name` shows in a debugger only. */
  constructor(name: string) {
    this.key = Symbol(name);
  }

  /** The value of this request; undefined before it is set. */
  get(request: IncomingMessage): T | undefined {
    return (request as unknown as Record<symbol, T | undefined>)[this.key];
  }

  /** Keeps a value for as long as the request exists. */
  set(request: IncomingMessage, value: T): void {
    (request as unknown as Record<symbol, T | undefined>)[this.key] = value;
  }
}
