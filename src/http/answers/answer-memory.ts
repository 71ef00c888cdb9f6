import { Injectable } from '@nestjs/common';
import { CommittedState } from '../../database/committed-state.js';
import type { Deprecation } from '../deprecation/deprecated.decorator.js';

/** Answers that are remembered at most, and bytes of their bodies; then the one that was remembered first goes. */
const MOST_ANSWERS = 2_000;
const MOST_BYTES = 16 * 1_048_576;
/** Longest request target that is remembered, in characters. */
const LONGEST_TARGET = 512;

/** What a GET operation answered with 200. */
export interface RememberedAnswer {
  readonly body: Buffer;
  readonly tag: string;
  /** The headers that the operation set, by name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Scopes that a key must hold for it. */
  readonly scopes: readonly string[];
  readonly deprecation: Deprecation | undefined;
  /** Template of the route, for logs and metrics. */
  readonly template: string;
}

/**
 * Remembers what `@Remembered()` operations answered, by request target. An answer is handed out only while nothing has
 * been committed since it was read, so it is never a stale one, also beside other processes.
 */
@Injectable()
export class AnswerMemory {
  private readonly answers = new Map<string, { answer: RememberedAnswer; state: number }>();
  private bytes = 0;

  constructor(private readonly committed: CommittedState) {}

  /** The state to remember an answer with; ask before the database is read. Undefined where nothing can be remembered. */
  state(): number | undefined {
    return this.committed.current('answers');
  }

  /** What the target was answered, if that was in the state that the database is in now. */
  recall(target: string): RememberedAnswer | undefined {
    const remembered = this.answers.get(target);
    if (!remembered) return undefined;
    if (remembered.state === this.state()) return remembered.answer;
    this.forget(target);
    return undefined;
  }

  /** Remembers what a target was answered, read after the state was asked. */
  remember(target: string, answer: RememberedAnswer, state: number | undefined): void {
    if (state === undefined || target.length > LONGEST_TARGET) return;
    this.forget(target);
    this.answers.set(target, { answer, state });
    this.bytes += answer.body.length;
    for (const oldest of this.answers.keys()) {
      if (this.answers.size <= MOST_ANSWERS && this.bytes <= MOST_BYTES) break;
      this.forget(oldest);
    }
  }

  private forget(target: string): void {
    this.bytes -= this.answers.get(target)?.answer.body.length ?? 0;
    this.answers.delete(target);
  }
}
