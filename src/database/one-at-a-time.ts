/**
 * Runs work such as a flush, which handles whatever is pending, one run at a time. All calls during a run share the one run that
 * follows it, so that at most one run waits, however long the database is locked.
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
