/**
 * Runs the work of one address after the other, side by side with that of other addresses. An address that has used up its
 * minute is served, because a valid key may be behind it, but one look-up at a time.
 */
export class AddressTurns {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs work when everything is done that came before it from the same address. */
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
