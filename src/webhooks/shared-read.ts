/**
 * Reads that concurrent callers share: each gets the result of a read that began after it asked, so that it has whatever was
 * committed before, and at most one read runs at a time, however many ask.
 */
export class SharedRead<T> {
  private running: Promise<T> | undefined;
  private following: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  /** What a read answers that begins now or later; rejects as it does. */
  ask(): Promise<T> {
    if (!this.running) return this.begin();
    return (this.following ??= this.running.then(
      () => this.begin(),
      () => this.begin(),
    ));
  }

  private begin(): Promise<T> {
    this.following = undefined;
    const running = this.read().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    return (this.running = running);
  }
}
