import { CHANCES, type Chances } from '../../clients/typescript/src/platform.js';

/** The time limit of attempts in suites, in milliseconds; no wait of theirs is as long. */
export const TIMEOUT_MS = 12_345;

/** Time and chance of a typed client, in the hand of a test: waits pass at once, and are noted. */
export class ControlledChances implements Chances {
  /** The waits between attempts so far, in milliseconds. */
  readonly waits: number[] = [];
  /** Timers that run. */
  running = 0;
  /** What random() answers. */
  chance = 0.5;
  /** Whether waits pass at once, or never. */
  doWaitsPass = true;
  private time = 0;
  private timeout: () => void = () => undefined;
  private waiting: (() => void)[] = [];

  /** The options of a client that is made with it. */
  get options(): object {
    return { [CHANCES]: this, timeoutMs: TIMEOUT_MS };
  }

  now(): number {
    return Date.parse('2026-11-20T12:00:00Z') + this.time;
  }

  elapsed(): number {
    return this.time;
  }

  random(): number {
    return this.chance;
  }

  after(ms: number, run: () => void): () => void {
    let isRunning = true;
    this.running += 1;
    const stop = (): void => {
      if (isRunning) this.running -= 1;
      isRunning = false;
    };
    const end = (): void => {
      if (!isRunning) return;
      stop();
      run();
    };
    if (ms === TIMEOUT_MS) this.timeout = end;
    else {
      this.waits.push(ms);
      const passed = (): void => {
        this.time += ms;
        end();
      };
      if (this.doWaitsPass) setImmediate(passed);
      else this.waiting.push(passed);
    }
    return stop;
  }

  /** Lets the waits pass that were to pass never. */
  wake(): void {
    for (const passed of this.waiting.splice(0)) passed();
  }

  /** Lets time pass. */
  pass(ms: number): void {
    this.time += ms;
  }

  /** Ends the attempt that runs as one that took too long. */
  timeOut(): void {
    this.timeout();
  }
}
