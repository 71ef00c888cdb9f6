/** Most decisions in one command: while it runs, Redis serves no other client. */
const LARGEST_BATCH = 128;

/** Runs the script for a batch; returns one answer per decision. */
type Run = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends all decisions of one turn of the event loop as one command, because most of what a decision costs Redis is the command
 * around it. The script still decides them one by one, and each waits for one round trip.
 */
export class DecisionBatches {
  private keys: string[] = [];
  private args: (string | number)[] = [];
  private waiting: Waiting[] = [];

  constructor(private readonly run: Run) {}

  /** Adds a decision to the next batch; resolves to the script's answer for it. */
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

/** No answer came within the limit. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no answer within ${limitMs} ms`);
  }
}

/**
 * Settles as the promise does if that happens within `limitMs` milliseconds; else rejects with TimeoutError.
 *
 * Node runs timers before it reads sockets: when this process was busy for longer than the limit, the answer may already be in
 * the socket. Immediates run after sockets are read, so the timeout is decided in one.
 */
export function withTimeout<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new TimeoutError(limitMs)));
    }, limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
