import { Logger } from '@nestjs/common';
import type { Clock } from '../../core/time/clock.js';

/** After how many failures in succession a listener is left alone for a while. */
const MOST_IN_SUCCESSION = 5;
/** First and longest of these whiles, in milliseconds; they double in between. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Shortest time between two lines of the log about one listener, in milliseconds. */
const LINE_MS = 60_000;

/**
 * A listener that fails: with one event after the other it is left alone for a while, so that ten thousand waiting events are not
 * all tried against a mail server that is down. The log has a line a minute at most.
 */
export class ListenerTrouble {
  private readonly logger = new Logger('Events');
  private inSuccession = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private saidAt = Number.NEGATIVE_INFINITY;
  private unsaid = { failed: 0, parked: 0 };

  constructor(
    private readonly name: string,
    private readonly clock: Clock,
  ) {}

  /** Whether it has failed with the last events in succession. */
  get isFailing(): boolean {
    return this.inSuccession >= MOST_IN_SUCCESSION;
  }

  /** Whether it is left alone at the moment. */
  get isPausing(): boolean {
    return this.clock.steady() < this.pausedUntil;
  }

  /** It has failed with an event, which is now parked or tried again. */
  begin(event: string, id: bigint, isParked: boolean, error: unknown): void {
    const now = this.clock.steady();
    // What was in hand when the pause began makes it no longer.
    if (!this.isPausing) this.inSuccession += 1;
    if (this.isFailing && !this.isPausing) {
      const doubled = FIRST_PAUSE_MS * 2 ** Math.min(this.inSuccession - MOST_IN_SUCCESSION, 16);
      this.pausedUntil = now + Math.min(doubled, LONGEST_PAUSE_MS);
    }
    this.unsaid.failed += 1;
    if (isParked) this.unsaid.parked += 1;
    if (now - this.saidAt < LINE_MS) return;
    const { failed, parked } = this.unsaid;
    const whole = failed > 1 ? ` (${failed} failures since the last line, ${parked} events parked)` : '';
    const next = isParked ? 'is parked: `petstore outbox list` shows it' : 'is tried again';
    const reason = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? error.stack : undefined;
    this.logger.error(`Listener ${this.name} failed (${reason}); ${event} ${id} ${next}${whole}`, stack);
    this.saidAt = now;
    this.unsaid = { failed: 0, parked: 0 };
  }

  /** It has handled an event. */
  end(): void {
    this.inSuccession = 0;
    this.pausedUntil = Number.NEGATIVE_INFINITY;
  }
}
