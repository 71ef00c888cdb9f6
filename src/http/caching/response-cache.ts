import type { OutgoingHttpHeader } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../core/time/clock.js';
import { DataVersion, NO_VERSIONS, type Versions } from '../../database/data-version.js';
import { JsonText } from '../../database/json-rows.js';
import { TransientMap } from '../../core/transient-map.js';

/** Approximate maximum memory of the responses, in bytes; beyond it the least recently used ones are evicted. */
const MOST_BYTES = 16 * 1_048_576;
/** Memory of a response besides its target and its body, in bytes: measured, with its entity tag. */
const BYTES_BESIDE = 256;
/** Longest request target whose response is cached, in characters. */
const LONGEST_TARGET = 512;

/** The result of a handler. */
export interface CachedResult {
  readonly body: unknown;
  /** The `Link` that it set, after that of a guard; undefined when it set none. */
  readonly link?: OutgoingHttpHeader | undefined;
  /** Whether the response is the same for every caller; only such a response is cached. */
  readonly isCacheable: boolean;
  /** Whether no new row changes it. */
  readonly outlastsNewRows: boolean;
}

/** A cached response, and when it was read. */
interface Entry {
  readonly answer: CachedResult;
  /** The version that it was read at. */
  readonly version: number;
  /** Commits that invalidate it: all, or all except those of new rows. */
  readonly kind: 'responses' | 'rows';
  /** When its read began, by the steady clock. */
  readonly readAt: number;
}

/** A running read. */
interface Pending {
  readonly version: number;
  /** Undefined when the read failed, or its response must not be shared. */
  readonly answer: Promise<CachedResult | undefined>;
}

/** Caches the responses of `@Cached()` operations by request target, each while the data version is that of its read: never stale. */
@Injectable()
export class ResponseCache {
  /** Hits and misses; a shared running read is a hit. */
  readonly use = { hits: 0, misses: 0 };
  private readonly entries = new LRUCache<string, Entry>({
    maxSize: MOST_BYTES,
    sizeCalculation: (entry, target) => bytesOf(entry, target),
  });
  private readonly pending = new TransientMap<string, Pending>();

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly clock: Clock,
  ) {}

  /** The number of responses. */
  get size(): number {
    return this.entries.size;
  }

  /**
   * The response to a target: from the cache, from a read that is under way for the same target, or from the handler. A commit after
   * `versions` were taken changes them, and the response is not used again.
   */
  answer(
    target: string,
    operation: () => Promise<CachedResult>,
    versions = this.dataVersion.versions(),
  ): CachedResult | Promise<CachedResult> {
    const shared = this.shared(target, versions);
    const given = (answer: CachedResult | undefined): CachedResult | Promise<CachedResult> => {
      this.use[answer ? 'hits' : 'misses'] += 1;
      return answer ?? this.read(target, versions, operation);
    };
    // Nothing may be awaited where nothing is shared: the next request must find the read.
    return shared instanceof Promise ? shared.then(given) : given(shared);
  }

  /** As answer(), without a handler: undefined for a target that is not in the cache. */
  find(target: string, versions: Versions): CachedResult | undefined {
    const found = this.shared(target, versions);
    if (!found || found instanceof Promise) return undefined;
    this.use.hits += 1;
    return found;
  }

  /** The versions as of a moment after a request of this target has arrived. */
  versionsFor(target: string): Versions | Promise<Versions> {
    return target.length > LONGEST_TARGET ? NO_VERSIONS : this.dataVersion.fresh();
  }

  private shared(
    target: string,
    versions = this.dataVersion.versions(),
  ): CachedResult | Promise<CachedResult | undefined> | undefined {
    const entry = this.entries.get(target);
    if (entry && entry.version === versions[entry.kind] && this.isYoung(entry)) return entry.answer;
    // A read that began at this version sees every commit that this request must see.
    const pending = this.pending.get(target);
    return pending && pending.version === versions.responses ? pending.answer : undefined;
  }

  private async read(
    target: string,
    versions: Versions,
    operation: () => Promise<CachedResult>,
  ): Promise<CachedResult> {
    const { responses: version } = versions;
    const readAt = this.clock.steady();
    const answering = operation();
    const pending =
      version === undefined ? undefined : { version, answer: answering.then(cacheable, nothing) };
    if (pending) this.pending.set(target, pending);
    try {
      const answer = await answering;
      const entry = answer.isCacheable ? entryOf(answer, versions, readAt) : undefined;
      if (entry) this.entries.set(target, entry);
      return answer;
    } finally {
      if (pending && this.pending.get(target) === pending) this.pending.delete(target);
    }
  }

  private isYoung({ readAt }: Entry): boolean {
    return this.clock.steady() - readAt < this.dataVersion.maxAgeMs;
  }
}

/** A response that was read at these versions, to be kept; undefined when it must not be. */
function entryOf(answer: CachedResult, versions: Versions, readAt: number): Entry | undefined {
  // A new row that came while it was read changes a response no more than a later one that outlasts it.
  const kind = answer.outlastsNewRows ? 'rows' : 'responses';
  const version = versions[kind];
  return version === undefined ? undefined : { answer, version, kind, readAt };
}

const nothing = (): undefined => undefined;

function cacheable(answer: CachedResult): CachedResult | undefined {
  return answer.isCacheable ? answer : undefined;
}

function bytesOf({ answer: { body, link = '' } }: Entry, target: string): number {
  return (
    BYTES_BESIDE +
    target.length +
    String(link).length +
    (body instanceof JsonText ? bytesOfText(body.text) : 0)
  );
}

/** V8 keeps a text with a character beyond Latin-1 as two bytes a character. */
function bytesOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
