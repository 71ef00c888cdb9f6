/** Most decisions in one command: Redis serves nobody else while it runs. */
const LARGEST_BATCH = 128;

/** Runs the script for a batch; answers one answer per decision. */
type Run = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the decisions that arrive in one turn of the event loop as one command: most of what a decision costs
 * Redis is the command around it. Each is still decided alone, and waits for one round trip.
 */
export class DecisionBatches {
  private keys: string[] = [];
  private args: (string | number)[] = [];
  private waiting: Waiting[] = [];

  constructor(private readonly run: Run) {}

  /** Adds a decision to the next batch; answers what the script answers for it. */
  add(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    if (this.waiting.length === LARGEST_BATCH) this.flush();
    if (this.waiting.length === 0) setImmediate(() => this.flush());
    this.keys.push(...keys);
    this.args.push(...args);
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
    });
  }

  private flush(): void {
    const { keys, args, waiting } = this;
    if (waiting.length === 0) return;
    this.keys = [];
    this.args = [];
    this.waiting = [];
    this.run(keys, args).then(
      (answers) => deliver(answers, waiting),
      (error: unknown) => {
        for (const { reject } of waiting) reject(error);
      },
    );
  }
}

function deliver(answers: unknown, waiting: readonly Waiting[]): void {
  const fits = Array.isArray(answers) && answers.length === waiting.length;
  for (const [index, { resolve, reject }] of waiting.entries()) {
    if (fits) resolve(answers[index]);
    else reject(new Error('it answered another number of decisions'));
  }
}

/** An answer that did not come in time. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
  }
}

/**
 * What a promise answers, if it does so within `limitMs` milliseconds; else rejects with TimeoutError.
 *
 * Timers run before sockets are read: when this process was busy for longer than the limit, the answer may lie in the
 * socket unread. Immediates run after the sockets, so that only what is not there by then is late.
 */
export function withTimeout<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new TimeoutError(limitMs)));
    }, limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
