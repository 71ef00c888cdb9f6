import { Logger } from '@nestjs/common';

const databaseLogger = new Logger('Database');

/** The log messages of an outage, and how it ends. */
export interface OutageKind<Reason> {
  /** The line when it begins. */
  readonly startMessage: (reason: Reason) => string;
  /** The line when it is over: its duration in seconds, and the affected requests. Without it, it lasts until the process ends. */
  readonly endMessage?: (seconds: number, times: number) => string;
  /** It is over after this time without an affected request, in milliseconds; without this, only `end` ends it. */
  readonly quietMs?: number;
  /** Whether it continues although no request is affected. */
  readonly isOngoing?: () => boolean;
  readonly level?: 'error' | 'warn';
  /** The logger; that of the database by default. */
  readonly logger?: Logger;
}

/**
 * A temporary failure, such as one of the database. The log gets one line when it begins and one when it is over, however
 * many requests it affects.
 */
export class Outage<Reason> {
  private current: { readonly reason: Reason; readonly since: number; times: number } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly kind: OutageKind<Reason>) {}

  /** Why it began; undefined without one. */
  get reason(): Reason | undefined {
    return this.current?.reason;
  }

  /** How long it has lasted, in milliseconds; 0 without one. */
  get ms(): number {
    return this.current ? performance.now() - this.current.since : 0;
  }

  /** Notes an affected request, and returns the reason of the outage. `reason` is called when it begins. */
  note(reason: () => Reason, since = performance.now()): Reason {
    if (!this.current) {
      this.current = { reason: reason(), since, times: 0 };
      this.logger[this.kind.level ?? 'error'](this.kind.startMessage(this.current.reason));
    }
    this.current.times += 1;
    this.awaitQuiet();
    return this.current.reason;
  }

  /** It is over. */
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
