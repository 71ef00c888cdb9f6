/** How long requests wait for the database, all their waits taken together. */
export abstract class RequestWaits {
  /** Runs a request: what it does from now on may wait for as long as one request may. */
  abstract run<T>(request: () => T): T;

  /**
   * Waits for what the database is asked for several requests, but no longer than the caller's request may. Throws
   * service_unavailable when that is over.
   */
  abstract bounded<T>(shared: Promise<T>): Promise<T>;

  /** The caller begins to wait, until `end`; `leftMs` tells how long it may from then on, in milliseconds. */
  abstract begin(): { readonly leftMs: () => number; readonly end: () => void };

  /** Runs work for several requests that may wait for so long, in milliseconds. */
  abstract within<T>(leftMs: number, work: () => T): T;
}

/** SQLite limits each wait by itself: for the lock of another process and for a turn. */
export class UnlimitedWaits extends RequestWaits {
  run<T>(request: () => T): T {
    return request();
  }

  bounded<T>(shared: Promise<T>): Promise<T> {
    return shared;
  }

  begin(): { readonly leftMs: () => number; readonly end: () => void } {
    return FOR_EVER;
  }

  within<T>(_: number, work: () => T): T {
    return work();
  }
}

const FOR_EVER = { leftMs: () => Infinity, end: () => undefined };
