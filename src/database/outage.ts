import { Logger } from '@nestjs/common';

const ofDatabase = new Logger('Database');

/** The log messages of an outage, and how it ends. */
export interface OutageKind<Reason> {
  /** The line when it begins. */
  readonly begun: (reason: Reason) => string;
  /** The line when it is over: its duration in seconds, and the affected requests. Without it, it lasts until the process ends. */
  readonly over?: (seconds: number, times: number) => string;
  /** It is over after this time without an affected request, in milliseconds; without this, only `end` ends it. */
  readonly quietMs?: number;
  /** Whether it continues although no request is affected. */
  readonly goesOn?: () => boolean;
  readonly level?: 'error' | 'warn';
  /** By default that of the database. */
  readonly logger?: Logger;
}

/**
 * A temporary failure, such as one of the database. The log gets one line when it begins and one when it is over, however
 * many requests it affects.
 */
export class Outage<Reason> {
  private begun: { readonly reason: Reason; readonly since: number; times: number } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly kind: OutageKind<Reason>) {}

  /** Why it began; undefined without one. */
  get reason(): Reason | undefined {
    return this.begun?.reason;
  }

  /** How long it has lasted, in milliseconds; 0 without one. */
  get ms(): number {
    return this.begun ? performance.now() - this.begun.since : 0;
  }

  /** Notes an affected request, and returns the reason of the outage. `reason` is called when it begins. */
  note(reason: () => Reason, since = performance.now()): Reason {
    if (!this.begun) {
      this.begun = { reason: reason(), since, times: 0 };
      this.logger[this.kind.level ?? 'error'](this.kind.begun(this.begun.reason));
    }
    this.begun.times += 1;
    this.awaitQuiet();
    return this.begun.reason;
  }

  /** It is over. */
  end(): void {
    const { begun, ms } = this;
    const { over, quietMs = 0 } = this.kind;
    if (!begun || !over) return;
    clearTimeout(this.timer);
    this.timer = this.begun = undefined;
    this.logger.log(over(Math.round((ms - quietMs) / 1_000), begun.times));
  }

  private get logger(): Logger {
    return this.kind.logger ?? ofDatabase;
  }

  private awaitQuiet(): void {
    if (this.kind.quietMs === undefined) return;
    this.timer?.refresh();
    this.timer ??= setTimeout(() => {
      if (this.kind.goesOn?.()) this.awaitQuiet();
      else this.end();
    }, this.kind.quietMs).unref();
  }
}
