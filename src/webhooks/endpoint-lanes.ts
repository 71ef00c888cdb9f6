/** Endpoints that are served side by side and answer quickly, and those that fail or are slow. */
const MOST_HEALTHY = 200;
const MOST_TROUBLED = 200;
/** Endpoints that are served side by side in all: those that are found to be slow only now are of neither kind's number. */
const MOST = 1_000;
/** From how long on an attempt is slow, in milliseconds: it then leaves its lane to the next endpoint. */
const SLOW_MS = 500;
/** Slow endpoints that are remembered; beyond that the oldest is forgotten. */
const MOST_SLOW = 10_000;

type Kind = 'healthy' | 'troubled';

interface InHand {
  kind: Kind;
  /** Whether it was added again since. */
  isAddedAgain: boolean;
}

/** Measures one attempt: it tells the lanes when it becomes slow. */
export type Attempting = <T>(attempt: () => Promise<T>) => Promise<T>;

/** Serves an endpoint for a while; answers whether there may be more for it at once. Must not reject. */
export type Serve = (id: string, attempting: Attempting) => Promise<boolean>;

/**
 * Serves endpoints side by side, each by one at a time. Those that fail or were slow have lanes of their own, and whatever becomes
 * slow leaves its lane to the next: however many receivers are down or hang, they delay none that answers.
 */
export class EndpointLanes {
  private readonly queues: Readonly<Record<Kind, Set<string>>> = { healthy: new Set(), troubled: new Set() };
  private readonly busy: Record<Kind, number> = { healthy: 0, troubled: 0 };
  private readonly inHand = new Map<string, InHand>();
  private readonly slow = new Set<string>();
  private waiting: (() => void)[] = [];

  constructor(private readonly serve: Serve) {}

  /** Whether no endpoint is being served or is to be. */
  get isIdle(): boolean {
    return this.inHand.size + this.queues.healthy.size + this.queues.troubled.size === 0;
  }

  /** Has an endpoint served soon, and once more if that has begun already. Answers whether that is new. */
  add(id: string, isFailing: boolean): boolean {
    const before = this.inHand.get(id);
    if (before) {
      before.isAddedAgain = true;
      return false;
    }
    if (this.queues.healthy.has(id) || this.queues.troubled.has(id)) return false;
    this.queues[isFailing || this.slow.has(id) ? 'troubled' : 'healthy'].add(id);
    this.fill();
    return true;
  }

  /** Forgets what is not being served yet. */
  clear(): void {
    this.queues.healthy.clear();
    this.queues.troubled.clear();
    for (const one of this.inHand.values()) one.isAddedAgain = false;
    this.tellIfIdle();
  }

  /** Resolves when all that was added has been served. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private fill(): void {
    for (const kind of ['healthy', 'troubled'] as const)
      for (const id of this.queues[kind]) {
        if (this.busy[kind] >= (kind === 'healthy' ? MOST_HEALTHY : MOST_TROUBLED)) break;
        if (this.inHand.size >= MOST) return;
        this.queues[kind].delete(id);
        void this.run(id, kind);
      }
  }

  private async run(id: string, kind: Kind): Promise<void> {
    const hand: InHand = { kind, isAddedAgain: false };
    this.inHand.set(id, hand);
    this.busy[kind] += 1;
    const isMore = await this.serve(id, (attempt) => this.measured(id, hand, attempt));
    this.busy[hand.kind] -= 1;
    this.inHand.delete(id);
    if (isMore || hand.isAddedAgain) this.add(id, false);
    this.fill();
    this.tellIfIdle();
  }

  private async measured<T>(id: string, hand: InHand, attempt: () => Promise<T>): Promise<T> {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.becomeSlow(id, hand);
    }, SLOW_MS);
    try {
      return await attempt();
    } finally {
      clearTimeout(timer);
      if (!isSlow) this.slow.delete(id);
    }
  }

  private becomeSlow(id: string, hand: InHand): void {
    this.slow.delete(id);
    this.slow.add(id);
    for (const oldest of this.slow) {
      if (this.slow.size <= MOST_SLOW) break;
      this.slow.delete(oldest);
    }
    if (hand.kind === 'troubled') return;
    this.busy.healthy -= 1;
    this.busy.troubled += 1;
    hand.kind = 'troubled';
    this.fill();
  }

  private tellIfIdle(): void {
    if (!this.isIdle) return;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
