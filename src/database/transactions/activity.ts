/** How long a transaction may be idle, in milliseconds: longer than any wait of the service itself. */
export const IDLE_MS = 15_000;

/** Tracks the last statement of a transaction and its nested ones. */
export class Activity {
  private isRunning = false;
  private ranAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;

  /** A value of `performance.now()`. */
  get at(): number {
    return this.isRunning ? performance.now() : this.ranAt;
  }

  begin(): void {
    this.isRunning = true;
  }

  end(): void {
    this.isRunning = false;
    this.ranAt = performance.now();
  }

  /** Calls back once no statement has run for too long. */
  watch(onIdle: () => void): void {
    this.ranAt = performance.now();
    const check = (): void => {
      const leftMs = this.at + IDLE_MS - performance.now();
      if (leftMs <= 0) onIdle();
      else this.timer = setTimeout(check, leftMs).unref();
    };
    check();
  }

  unwatch(): void {
    clearTimeout(this.timer);
  }
}
