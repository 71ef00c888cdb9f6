import { setImmediate as immediate } from 'node:timers/promises';

/**
 * Most decisions in one command. Redis decides one command while this process reads the responses to the one before it and writes the
 * next: 64 decisions at a time in one command would keep one of the two waiting for the other.
 */
const LARGEST_BATCH = 32;

/** Runs the script for a batch; returns one answer per decision. */
type Run = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** Decisions that become one command. */
interface Batch {
  readonly keys: string[];
  readonly args: (string | number)[];
  size: number;
  readonly answers: Promise<readonly unknown[]>;
}

/**
 * Sends the decisions of one turn of the event loop in commands of up to 32, because most of what a decision costs Redis is the command
 * around it. The script still decides them one by one, and each waits for one round trip. On a Cluster there is one command for
 * each group of decisions whose keys are in one slot.
 */
export class DecisionBatches {
  private readonly batches = new Map<string, Batch>();

  constructor(private readonly run: Run) {}

  /** Adds a decision to the next command of its group; resolves to the script's answer for it. */
  add(keys: readonly string[], args: readonly (string | number)[], group = ''): Promise<unknown> {
    let batch = this.batches.get(group);
    if (!batch || batch.size === LARGEST_BATCH) this.batches.set(group, (batch = this.begin(group)));
    const at = batch.size;
    batch.size += 1;
    batch.keys.push(...keys);
    batch.args.push(...args);
    return batch.answers.then((answers) => answers[at]);
  }

  private begin(group: string): Batch {
    const send = async (): Promise<readonly unknown[]> => {
      await immediate();
      if (this.batches.get(group) === batch) this.batches.delete(group);
      const answers = await this.run(batch.keys, batch.args);
      if (Array.isArray(answers) && answers.length === batch.size) return answers;
      throw new Error('it returned a wrong number of decisions');
    };
    const batch: Batch = { keys: [], args: [], size: 0, answers: send() };
    return batch;
  }
}

/** The response of a script as numbers; throws for anything else. */
export function numbersOf(answer: unknown): number[] {
  if (Array.isArray(answer) && answer.every(Number.isSafeInteger)) return answer as number[];
  throw new Error('it returned an invalid decision');
}

/** No response came within the limit. */
export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no response within ${limitMs} ms`);
  }
}

/** The timeout is measured in so many parts. */
const PARTS = 5;

/**
 * Settles as the promise does if that happens within `limitMs` milliseconds; else rejects with TimeoutError.
 *
 * Only the time in which this process runs counts: the timeout is measured in parts, one after the other, so that a pause (busy
 * event loop, garbage collection, a machine that stands still together with Redis) uses up one of them at most. Node runs timers
 * before it reads sockets, and immediates after: the response may be in the socket when the last part ends.
 */
export function withTimeout<T>(answer: Promise<T>, limitMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (parts: number): void => {
      timer = setTimeout(() => {
        if (parts > 1) wait(parts - 1);
        else setImmediate(() => reject(new TimeoutError(limitMs)));
      }, limitMs / PARTS);
    };
    wait(PARTS);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Settles as a response of Redis does, and rejects with TimeoutError when that takes too long. */
export type InTime = <T>(answer: Promise<T>) => Promise<T>;

/** Redis fails when so many answers in a row are late: one may be, when Redis forks or the network loses a packet. */
const LATE_IN_A_ROW = 3;

/**
 * Notices a Redis that has failed: answers that are later than `limitMs`, each to a command sent after the one before was late, or one
 * that is late by as much alone. One that is late for once is waited for.
 */
export class LateAnswers {
  private inARow = 0;

  /** `failed` is called when Redis has failed, and must end all commands under way; `isUsed` returns whether requests use Redis. */
  constructor(
    private readonly limitMs: number,
    private readonly isUsed: () => boolean,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Settles as a response does; rejects with TimeoutError when it is given up. */
  readonly inTime: InTime = async (answer) => {
    for (let late = 1; ; late += 1) {
      const before = this.inARow;
      try {
        const value = await withTimeout(answer, this.limitMs);
        if (late === 1) this.inARow = 0;
        return value;
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        // All that is late at one time is late once.
        if (before === this.inARow) this.inARow += 1;
        if (Math.max(late, this.inARow) < LATE_IN_A_ROW && this.isUsed()) continue;
        this.inARow = 0;
        this.failed(error);
        throw error;
      }
    }
  };
}
