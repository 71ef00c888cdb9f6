import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that follows asynchronous work. It is disabled while no work uses it, because on Node.js 20 it doubles the cost of every promise.
 */
export class AsyncContext<T extends object> {
  private readonly storage = new AsyncLocalStorage<T | undefined>();
  private working = 0;

  /** The value of the calling work, even if that was started within work that has ended. */
  current(): T | undefined {
    return this.storage.getStore();
  }

  /** Runs work with a value. */
  async run<R>(value: T, work: () => R | Promise<R>): Promise<R> {
    this.working += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.working -= 1;
      if (this.working === 0) this.storage.disable();
    }
  }

  /** Runs work without a value. */
  outside<R>(work: () => R): R {
    return this.current() ? this.storage.run(undefined, work) : work();
  }
}
