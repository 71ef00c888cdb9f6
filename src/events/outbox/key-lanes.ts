/** Something that keeps its order among those of its key. */
interface Keyed {
  readonly key: string;
}

/** Works on events side by side: of each key one after the other, of a few keys at once. */
export class KeyLanes<Event extends Keyed> {
  /** Events of one key each, which nobody works on yet. */
  private readonly waiting: (readonly [Event, ...Event[]])[] = [];
  private readonly busy = new Map<string, Promise<void>>();
  private isClosed = false;
  private isAwake = false;
  private resume: (() => void) | undefined;

  /**
   * `most` keys are worked on at once. `handle` must not reject; it answers whether the event was handled: if not, those after
   * it are given up, too. `ended` is called when the work on a key has ended.
   */
  constructor(
    private readonly most: number,
    private readonly handle: (event: Event) => Promise<boolean>,
    private readonly ended: () => void,
  ) {}

  /** The keys whose events are in hand. */
  get keys(): string[] {
    return [...this.busy.keys(), ...this.waiting.map(([{ key }]) => key)];
  }

  /** Whether no event is in hand. */
  get isIdle(): boolean {
    return this.busy.size === 0 && this.waiting.length === 0;
  }

  /** Whether the work on another key would begin at once. */
  get hasRoom(): boolean {
    return this.busy.size < this.most && this.waiting.length === 0;
  }

  /** Hands in events in their order; none of a key that is in hand. */
  add(events: readonly Event[]): void {
    const lanes = new Map<string, [Event, ...Event[]]>();
    for (const event of events) {
      const lane = lanes.get(event.key);
      if (lane) lane.push(event);
      else lanes.set(event.key, [event]);
    }
    this.waiting.push(...lanes.values());
    this.beginNext();
  }

  /** Begins nothing more, and resolves when what was begun has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.waiting.length = 0;
    await Promise.all(this.busy.values());
  }

  /** Resolves when an event was handled, when a key has ended, or after `wake()`; at once if that was since the last time. */
  async progress(): Promise<void> {
    if (!this.isAwake) await new Promise<void>((resolve) => (this.resume = resolve));
    this.isAwake = false;
  }

  /** Has `progress()` resolve. */
  wake(): void {
    this.isAwake = true;
    this.resume?.();
  }

  private beginNext(): void {
    while (this.busy.size < this.most) {
      const lane = this.waiting.shift();
      if (!lane) return;
      const [{ key }] = lane;
      this.busy.set(
        key,
        this.work(lane).finally(() => {
          this.busy.delete(key);
          this.ended();
          this.beginNext();
          this.wake();
        }),
      );
    }
  }

  private async work(lane: readonly Event[]): Promise<void> {
    for (const event of lane) {
      if (this.isClosed || !(await this.handle(event))) return;
      this.wake();
    }
  }
}
