/**
 * Runs work that takes up whatever is there, such as a flush, one run at a time: whoever asks while it runs shares the one run
 * that follows. However long the database is locked, no more than one run waits behind another.
 */
export class OneAtATime {
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  /** `work` must not reject. */
  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when a run has ended that began after this call. */
  run(): Promise<void> {
    if (this.running) return (this.following ??= this.running.then(() => this.begin()));
    return this.begin();
  }

  private begin(): Promise<void> {
    this.following = undefined;
    this.running = this.work().finally(() => (this.running = undefined));
    return this.running;
  }
}
