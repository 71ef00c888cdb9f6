import type { Clock } from '../core/time/clock.js';
import type { WaitingEndpoint } from './webhook-deliveries.js';

/**
 * Tells when the messages that failed are due. The database has the instant; how long it is until then is asked once, when this
 * process first reads it, and waited for by the steady clock: a clock that is set back does not stop deliveries, and one that is set
 * forward does not have all of them tried at once.
 */
export class DueTimes {
  private readonly seen = new Map<string, { readonly dueAt: number; readonly at: number }>();

  constructor(private readonly clock: Clock) {}

  /** Those whose first waiting message may be sent now. Forgets all endpoints that are not given. */
  due(waiting: readonly WaitingEndpoint[]): WaitingEndpoint[] {
    const ids = new Set(waiting.map(({ id }) => id));
    for (const id of this.seen.keys()) if (!ids.has(id)) this.seen.delete(id);
    return waiting.filter((endpoint) => this.isDue(endpoint));
  }

  /** Whether the first waiting message of an endpoint may be sent now. */
  isDue({ id, dueAt, delay }: Pick<WaitingEndpoint, 'id' | 'dueAt' | 'delay'>): boolean {
    if (dueAt === 0) return true;
    let seen = this.seen.get(id);
    if (seen?.dueAt !== dueAt) {
      // Further ahead than its delay is what the clock was set back by since.
      const left = Math.min(Math.max(0, dueAt - this.clock.now()), delay);
      seen = { dueAt, at: this.clock.steady() + left };
      this.seen.set(id, seen);
    }
    return this.clock.steady() >= seen.at;
  }
}
