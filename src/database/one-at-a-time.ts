/** Runs work such as a flush or a read, one run at a time. All calls during a run share the next one, so at most one run waits. */
export class OneAtATime<T = void> {
  private running: Promise<T> | undefined;
  private following: Promise<T> | undefined;

  constructor(private readonly work: () => Promise<T>) {}

  /** Settles like the first run that starts after this call. */
  run(): Promise<T> {
    if (!this.running) return this.start();
    const start = () => this.start();
    return (this.following ??= this.running.then(start, start));
  }

  private start(): Promise<T> {
    this.following = undefined;
    this.running = this.work().finally(() => {
      // Calls before the next run starts share it.
      this.running = this.following;
    });
    return this.running;
  }
}
