import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that follows asynchronous work to everything that it calls and awaits. While no work runs with a value it is
 * switched off, because on Node.js 20 every promise of the process costs twice as much while it is on.
 */
export class AsyncContext<T extends object> {
  private readonly storage = new AsyncLocalStorage<T | undefined>();
  private working = 0;

  /** The value of the work that calls this; also of work that was begun in it and has outlived it. */
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
