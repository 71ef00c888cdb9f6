/**
 * A queue for each client address: work of one address runs one at a time, work of different addresses runs concurrently. An
 * address that has used up its minute is still served, because it may send a valid key, but causes one look-up at a time.
 */
export class AddressTurns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs work once all earlier work of the same address has settled. */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(address);
    const own = before ? before.then(work) : work();
    const done = own.catch(() => undefined);
    this.last.set(address, done);
    try {
      return await own;
    } finally {
      if (this.last.get(address) === done) this.last.delete(address);
    }
  }
}
