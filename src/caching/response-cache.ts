import type { OutgoingHttpHeader } from 'node:http';
import { Injectable, SetMetadata } from '@nestjs/common';
import { DataVersion } from '../database/data-version.js';

/** Answers that are cached at most, and characters of their bodies; then the one that was cached first goes. */
const MOST_ANSWERS = 2_000;
const MOST_CHARACTERS = 16 * 1_048_576;
/** Longest request target that is cached, in characters. */
const LONGEST_TARGET = 512;

/**
 * Headers that an answer may set and be cached, as they are written, by their names in lower case. They tell of the
 * target alone; with any other, such as Set-Cookie, an answer is for its request.
 */
export const CACHED_HEADERS: ReadonlyMap<string, string> = new Map(
  ['Content-Type', 'Link'].map((name) => [name.toLowerCase(), name]),
);

/** What an operation answered. */
export interface Answer {
  readonly body: unknown;
  /** The headers that it set, by name. */
  readonly headers: readonly (readonly [name: string, value: OutgoingHttpHeader])[];
  /** The entity tag of a body that is text, answered with 200; only such an answer is cached. */
  readonly tag: string | undefined;
}

interface Kept {
  readonly version: number;
  readonly answer: Answer;
}

interface Sought {
  readonly version: number;
  /** Undefined when it came to nothing. */
  readonly answer: Promise<Answer | undefined>;
}

/**
 * Caches what `@Cached()` operations answered, by request target. An answer is handed out only while nothing has
 * been committed since it was read, so it is never a stale one, also beside other processes.
 */
@Injectable()
export class ResponseCache {
  private readonly kept = new Map<string, Kept>();
  private readonly sought = new Map<string, Sought>();
  private characters = 0;

  private isOn = (): boolean => true;

  constructor(private readonly dataVersion: DataVersion) {}

  /** Caches only while this holds: what else takes part in answers may make them depend on more than their target. */
  enableWhile(condition: () => boolean): void {
    this.isOn = condition;
  }

  /** What the target is answered now: from memory, together with a request that asks the same, or by the operation. */
  async answer(target: string, operation: () => Promise<Answer>): Promise<Answer> {
    // Before anything is read: what is committed meanwhile makes the answer too old to be cached.
    const version =
      target.length > LONGEST_TARGET || !this.isOn() ? undefined : this.dataVersion.current('responses');
    if (version === undefined) return operation();
    const kept = this.kept.get(target);
    if (kept?.version === version) return kept.answer;
    // It began after the last commit that we must see, so it sees that too.
    const sought = this.sought.get(target);
    const shared = sought?.version === version ? await sought.answer : undefined;
    return shared ?? this.seek(target, version, operation);
  }

  private async seek(target: string, version: number, operation: () => Promise<Answer>): Promise<Answer> {
    const answering = operation();
    const sought = { version, answer: answering.then(cacheable, nothing) };
    this.sought.set(target, sought);
    try {
      const answer = await answering;
      if (cacheable(answer)) this.keep(target, { version, answer });
      return answer;
    } finally {
      if (this.sought.get(target) === sought) this.sought.delete(target);
    }
  }

  private keep(target: string, kept: Kept): void {
    this.evict(target);
    this.kept.set(target, kept);
    this.characters += sizeOf(kept);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST_ANSWERS && this.characters <= MOST_CHARACTERS) break;
      this.evict(oldest);
    }
  }

  private evict(target: string): void {
    const kept = this.kept.get(target);
    if (!kept) return;
    this.characters -= sizeOf(kept);
    this.kept.delete(target);
  }
}

const nothing = (): undefined => undefined;

function cacheable(answer: Answer): Answer | undefined {
  const isForEverybody = answer.headers.every(([name]) => CACHED_HEADERS.has(name.toLowerCase()));
  return answer.tag !== undefined && isForEverybody ? answer : undefined;
}

function sizeOf({ answer: { body } }: Kept): number {
  return typeof body === 'string' ? body.length : 0;
}

/** Metadata key of `@Cached()`. */
export const CACHED = 'petstore:cached';

/**
 * Lets the service cache what a GET operation answers, until anything is committed to the database. Only for an
 * operation whose answer depends on the request target and the database alone: not on the caller, the time or the outside.
 * Keys, scopes, quotas, headers, logs and metrics are as without it. An answer that sets another header than `Link` and
 * `Content-Type` is not cached, nor is anything once an added module has a global interceptor, or the operation one of
 * its own.
 */
export function Cached(): MethodDecorator {
  return SetMetadata(CACHED, true);
}
