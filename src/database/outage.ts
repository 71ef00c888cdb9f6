import { Logger } from '@nestjs/common';

const databaseLogger = new Logger('Database');

/** The log messages of an outage, and the conditions for its end. */
export interface OutageKind<Reason> {
  readonly startMessage: (reason: Reason) => string;
  /**
   * The log message when it ends, from its duration in seconds and the number of affected requests. Without this, it lasts until the
   * process exits.
   */
  readonly endMessage?: (seconds: number, times: number) => string;
  /** It ends after this time without an affected request, in milliseconds. Without this, only `end` ends it. */
  readonly quietMs?: number;
  /** Whether it continues although no requests are affected. */
  readonly isOngoing?: () => boolean;
  readonly level?: 'error' | 'warn';
  /** By default, the database's logger. */
  readonly logger?: Logger;
}

/**
 * A temporary failure, such as one of the database. It is logged once when it starts and once when it ends, however many requests it
 * affects.
 */
export class Outage<Reason> {
  private current: { readonly reason: Reason; readonly since: number; times: number } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly kind: OutageKind<Reason>) {}

  /** The reason of the current outage; undefined if there is none. */
  get reason(): Reason | undefined {
    return this.current?.reason;
  }

  /** The duration of the current outage in milliseconds; 0 if there is none. */
  get ms(): number {
    return this.current ? performance.now() - this.current.since : 0;
  }

  /** Counts an affected request, and returns the reason of the outage. `reason` is called when the outage starts. */
  note(reason: () => Reason, since = performance.now()): Reason {
    if (!this.current) {
      this.current = { reason: reason(), since, times: 0 };
      this.logger[this.kind.level ?? 'error'](this.kind.startMessage(this.current.reason));
    }
    this.current.times += 1;
    this.awaitQuiet();
    return this.current.reason;
  }

  end(): void {
    const { current, ms } = this;
    const { endMessage, quietMs = 0 } = this.kind;
    if (!current || !endMessage) return;
    clearTimeout(this.timer);
    this.timer = this.current = undefined;
    this.logger.log(endMessage(Math.round((ms - quietMs) / 1_000), current.times));
  }

  private get logger(): Logger {
    return this.kind.logger ?? databaseLogger;
  }

  private awaitQuiet(): void {
    if (this.kind.quietMs === undefined) return;
    this.timer?.refresh();
    this.timer ??= setTimeout(() => {
      if (this.kind.isOngoing?.()) this.awaitQuiet();
      else this.end();
    }, this.kind.quietMs).unref();
  }
}
