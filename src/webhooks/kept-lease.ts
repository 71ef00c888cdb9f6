import type { Leases } from '../events/jobs/leases.js';

interface Kept {
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  readonly end: () => void;
}

/** A lease that this process keeps until it gives it back or loses it. */
export class KeptLease {
  private kept: Kept | undefined;
  private holding: Promise<void> = Promise.resolve();

  constructor(
    private readonly leases: Leases,
    private readonly name: string,
  ) {}

  /** Whether this process has it, or had it until it was lost. */
  get isKept(): boolean {
    return this.kept !== undefined;
  }

  /**
   * Takes it unless this process has it already. Answers a signal that aborts when it is lost; undefined when another process has
   * it. Rejects when the database does. Not to be called again before it has answered.
   */
  async take(): Promise<AbortSignal | undefined> {
    if (this.kept && !this.kept.lost.aborted) return this.kept.lost;
    await this.release();
    return new Promise((resolve, reject) => {
      const hold = this.leases.hold(this.name, (lost) => {
        const ended = new Promise<void>((end) => (this.kept = { lost, end }));
        resolve(lost);
        return ended;
      });
      this.holding = hold.then(
        () => resolve(undefined),
        (error: unknown) => reject(error as Error),
      );
    });
  }

  /** Gives it back, if this process has it. Never rejects. */
  async release(): Promise<void> {
    this.kept?.end();
    this.kept = undefined;
    await this.holding;
  }
}
