import type { OutgoingHttpHeader } from 'node:http';
import { totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { LRUCache } from 'lru-cache';
import { Settings } from '../../core/config/settings.js';
import { Clock } from '../../core/time/clock.js';
import { DataVersion, NO_VERSIONS, type Versions } from '../../database/data-version.js';
import { JsonText } from '../../database/json-rows.js';
import { TransientMap } from '../../core/transient-map.js';

const MIB = 1_048_576;
/** The share of the process's memory used for responses unless RESPONSE_CACHE_MIB is set. */
const SHARE = 1 / 16;
/** Bounds of that, in MiB. */
const MIN_MIB = 16;
const MAX_MIB = 64;
/** Memory of a response in addition to its target and body, in bytes; measured, including its entity tag. */
const OVERHEAD_BYTES = 256;
/** Maximum length of a request target whose response is cached, in characters. */
const MAX_TARGET_LENGTH = 512;

/** The response to every request of a target while the data is the same. */
interface CachedResponse {
  readonly body: JsonText;
  /** The `Link` set by the handler, after that of a guard; undefined if it set none. */
  readonly link: OutgoingHttpHeader | undefined;
}

/** A cached response, and when it was read. */
interface Entry {
  readonly cached: CachedResponse;
  readonly version: number;
  /** Which commits invalidate it: all, or all except inserts. */
  readonly kind: 'responses' | 'rows';
  /** When its read started, as a time of the monotonic clock. */
  readonly readAt: number;
}

/** A running read. */
interface Pending {
  readonly version: number;
  /** Undefined if the read failed or its response must not be shared. */
  readonly cached: Promise<CachedResponse | undefined>;
}

/** Caches responses of `@Cached()` operations by request target, each until the data version changes after its read. Never stale. */
@Injectable()
export class ResponseCache {
  /** Hits and misses; a shared running read is a hit. */
  readonly use = { hits: 0, misses: 0 };
  /** Approximate maximum memory of the responses, in bytes. Beyond it, the least recently used ones are evicted. */
  readonly maxBytes: number;
  private readonly entries: LRUCache<string, Entry>;
  private readonly pending = new TransientMap<string, Pending>();

  constructor(
    private readonly dataVersion: DataVersion,
    private readonly clock: Clock,
    settings: Settings,
  ) {
    this.maxBytes = MIB * (settings.responseCacheMib ?? shareOf(memoryOfProcess()));
    this.entries = new LRUCache<string, Entry>({
      maxSize: this.maxBytes,
      sizeCalculation: (entry, target) => bytesOf(entry, target),
    });
  }

  get size(): number {
    return this.entries.size;
  }

  /** Approximate memory of the responses, in bytes. */
  get bytes(): number {
    return this.entries.calculatedSize;
  }

  /** The versions at a moment after a request of this target has arrived. */
  versionsFor(target: string): Versions | Promise<Versions> {
    return target.length > MAX_TARGET_LENGTH ? NO_VERSIONS : this.dataVersion.fresh();
  }

  /** The cached body for a response, which gets the cached `Link`; undefined if nothing is cached at these versions. */
  find(response: Response, versions: Versions): JsonText | undefined {
    const entry = this.entries.get(response.req.originalUrl);
    if (!entry || entry.version !== versions[entry.kind]) return undefined;
    if (this.clock.steady() - entry.readAt >= this.dataVersion.maxAgeMs) return undefined;
    return this.used(entry.cached, response);
  }

  /**
   * The result for a request: from the cache, from a running read of the same target, or from the handler, whose result is cached. A commit
   * after `versions` were read changes them, so that the cached result is not used again. For `rowsOnly`, see CachedOptions.
   */
  async wrap(
    response: Response,
    versions: Versions,
    handler: () => unknown,
    rowsOnly: boolean,
  ): Promise<unknown> {
    const target = response.req.originalUrl;
    const found = this.find(response, versions);
    if (found) return found;
    // A read that started at this version sees every commit that this request must see.
    const shared = this.pending.get(target);
    if (shared && shared.version === versions.responses) {
      const cached = await shared.cached;
      if (cached) return this.used(cached, response);
    }
    // No await up to here without a shared read, so that the next request finds this one.
    this.use.misses += 1;
    const readAt = this.clock.steady();
    const reading = read(response, handler);
    const pending = versions.responses !== undefined && {
      version: versions.responses,
      cached: reading.then(({ cached }) => cached, nothing),
    };
    if (pending) this.pending.set(target, pending);
    try {
      const { result, cached } = await reading;
      // A row inserted during the read does not affect the response, like later ones.
      const kind = rowsOnly && cached?.body.survivesInserts ? 'rows' : 'responses';
      const version = versions[kind];
      if (cached && version !== undefined) this.entries.set(target, { cached, version, kind, readAt });
      return result;
    } finally {
      if (pending && this.pending.get(target) === pending) this.pending.delete(target);
    }
  }

  private used({ body, link }: CachedResponse, response: Response): JsonText {
    this.use.hits += 1;
    if (link !== undefined) response.setHeader('Link', link);
    return body;
  }
}

/**
 * Runs a handler. Its response can be cached if it is a JsonText with status 200 and the handler has set no header other than `Link`, which
 * depends only on the target. A response with any other header, such as Set-Cookie, belongs to its request.
 */
async function read(
  response: Response,
  handler: () => unknown,
): Promise<{ readonly result: unknown; readonly cached?: CachedResponse }> {
  const before = response.getHeaders();
  const result = await handler();
  const isOfTarget = response
    .getHeaderNames()
    .every((name) => name === 'link' || response.getHeader(name) === before[name]);
  if (!(result instanceof JsonText && isOfTarget && response.statusCode === 200)) return { result };
  const link = response.getHeader('link');
  return { result, cached: { body: result, link: link === before['link'] ? undefined : link } };
}

const nothing = (): undefined => undefined;

/** The memory available to the process in bytes: its container's limit or, without one, the machine's memory. */
function memoryOfProcess(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function shareOf(bytes: number): number {
  return Math.min(Math.max(Math.floor((bytes * SHARE) / MIB), MIN_MIB), MAX_MIB);
}

function bytesOf({ cached: { body, link = '' } }: Entry, target: string): number {
  return OVERHEAD_BYTES + target.length + String(link).length + bytesOfText(body.text);
}

/** V8 stores text that contains a character beyond Latin-1 with two bytes per character. */
function bytesOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
