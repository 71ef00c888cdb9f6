import { AsyncLocalStorage } from 'node:async_hooks';

/** A value that follows asynchronous work. It is disabled while unused, because on Node.js 20 it doubles the cost of every promise. */
export class AsyncContext<T extends object> {
  private readonly storage = new AsyncLocalStorage<T | undefined>();
  private working = 0;

  /** The caller's value, even if the work that set it has ended. */
  current(): T | undefined {
    return this.storage.getStore();
  }

  async run<R>(value: T, work: () => R | Promise<R>): Promise<R> {
    this.working += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.working -= 1;
      if (this.working === 0) this.storage.disable();
    }
  }

  outside<R>(work: () => R): R {
    return this.current() ? this.storage.run(undefined, work) : work();
  }
}
