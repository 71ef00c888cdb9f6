import { type AnswerContext, type Quota, answerOf, isSuccess, quotaOf, refusalOf } from './answers.js';
import { type Attempted, attempt, onAbort, throwIfAborted, wait } from './attempt.js';
import { PetstoreError } from './errors.js';
import { HeldBack } from './held-back.js';
import type { Int64Form } from './int64.js';
import type { Operation } from './operation.js';
import type { CheckedOptions } from './options.js';
import type { Abortable } from './platform.js';
import type { PreparedRequest } from './request.js';
import { RetryBudget } from './retry-budget.js';
import { JITTER_MS, retryAfter, waitBefore } from './retry-rules.js';

/** What a call came to. */
export interface Carried {
  readonly answer: unknown;
  readonly attempted: Attempted;
  readonly context: AnswerContext;
}

/** Sends requests until they are answered, as often and as late as the service and the options allow. */
export class Sender<Form extends Int64Form> {
  /** The quota that the last answer told. */
  quota: Quota | undefined;
  private readonly budget = new RetryBudget();
  private readonly heldBack = new HeldBack();

  constructor(private readonly options: CheckedOptions<Form>) {}

  /** Carries a request out. Rejects with the last error when it may not be tried again, or not in time. */
  async carryOut(
    operation: Operation,
    request: PreparedRequest,
    signal: Abortable | undefined,
  ): Promise<Carried> {
    const { retries, budgetMs, chances } = this.options;
    const latest = chances.elapsed() + budgetMs;
    const waitOrThrow = async (ms: number, error: unknown): Promise<void> => {
      if (chances.elapsed() + ms > latest) throw error;
      await wait(ms, signal, chances);
    };
    this.budget.noteRequest();
    for (let number = 1; ; number += 1) {
      const apiKey = await this.keyToSendWith(operation, waitOrThrow, signal);
      const failure = await this.tryOnce(operation, request, apiKey, signal);
      if (!(failure instanceof Failed)) return failure;
      const { error } = failure;
      const retry = retryAfter(error, request.isSafe);
      const ms = waitBefore(error, number, () => chances.random());
      if (retry === 'never' || number > retries) throw error;
      if (chances.elapsed() + ms > latest || (retry === 'trouble' && !this.budget.take())) throw error;
      await waitOrThrow(ms, error);
    }
  }

  /** The key, once nothing holds the operation back. Throws the refusal that holds it back when that wait does not fit. */
  private async keyToSendWith(
    { heldBackBy }: Operation,
    waitOrThrow: (ms: number, error: unknown) => Promise<void>,
    signal: Abortable | undefined,
  ): Promise<string> {
    const { chances, retries } = this.options;
    for (;;) {
      throwIfAborted(signal);
      const apiKey = await orAborted(this.options.apiKey(), signal);
      const refusal = this.heldBack.refusalNow(heldBackBy, apiKey, chances.elapsed());
      if (!refusal) return apiKey;
      if (retries === 0) throw refusal;
      await waitOrThrow((refusal.retryAfterMs ?? 0) + chances.random() * JITTER_MS, refusal);
    }
  }

  /** One attempt. Rejects only with the reason of the signal. */
  private async tryOnce(
    operation: Operation,
    request: PreparedRequest,
    apiKey: string,
    signal: Abortable | undefined,
  ): Promise<Carried | Failed> {
    const { form, chances } = this.options;
    const headers = { ...request.headers, Authorization: `Bearer ${apiKey}` };
    let attempted: Attempted;
    try {
      attempted = await attempt({ ...request, headers }, { ...this.options, signal });
    } catch (error) {
      throwIfAborted(signal);
      return new Failed(error);
    }
    const context: AnswerContext = {
      operation,
      request: { ...request, headers },
      form,
      apiKey,
      now: chances.now(),
    };
    const [bound] = operation.heldBackBy;
    const { status } = attempted.response;
    // What a bound of its own refuses tells that bound, not the quota.
    if (status !== 429 || bound === 'quota') this.quota = quotaOf(attempted.response) ?? this.quota;
    try {
      if (isSuccess(attempted)) return { answer: answerOf(attempted, context), attempted, context };
      const refusal = refusalOf(attempted, context);
      if (refusal instanceof PetstoreError) this.heldBack.note(refusal, bound, apiKey, chances.elapsed());
      return new Failed(refusal);
    } catch (error) {
      return new Failed(error);
    }
  }
}

class Failed {
  constructor(readonly error: unknown) {}
}

/** What a promise comes to; rejects with the reason of the signal as soon as it aborts. */
async function orAborted<Value>(promise: Promise<Value>, signal: Abortable | undefined): Promise<Value> {
  let stopListening: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, reject);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stopListening();
  }
}
