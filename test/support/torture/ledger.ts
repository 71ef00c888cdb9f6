import type { TestResponse } from '../../kit/test-response.js';

/** A span of time, in milliseconds of `performance.now()`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Maximum age of counts that a crash loses. Normally it is one second, but on a slow machine counts are written later. */
const UNWRITTEN_MS = 3_000;

/** The responses to clients, recorded to be compared with the database at the end. */
export class Ledger {
  /** Responses that the service must never send. */
  readonly unexpected: string[] = [];
  private readonly sent = new Set<string>();
  private readonly acknowledged = new Map<string, number>();
  /** The times at which requests of the client with the small limit were admitted, by the end of their minute. */
  private readonly admitted = new Map<number, number[]>();

  /** Records a name before it is sent. */
  send(name: string): void {
    this.sent.add(name);
  }

  /** Records that the animal with this name was acknowledged with 201. */
  acknowledge(name: string, id: number): void {
    this.acknowledged.set(name, id);
  }

  /** The number of acknowledged animals. */
  get acknowledgements(): number {
    return this.acknowledged.size;
  }

  /** Records an unexpected response. */
  record({ status, headers, text, body }: TestResponse, allowed: readonly number[], what: string): void {
    const isAsPromised =
      status !== 503 || (body?.code === 'service_unavailable' && headers.get('retry-after') !== null);
    if (!allowed.includes(status) || !isAsPromised)
      this.unexpected.push(`${what}: ${status} ${text.slice(0, 300)}`);
  }

  /** Records that a request was admitted in the minute that ends at `reset`. */
  admit(reset: number): void {
    this.admitted.set(reset, [...(this.admitted.get(reset) ?? []), performance.now()]);
  }

  /** The names that were acknowledged but not stored, stored twice, or never sent. */
  compare(stored: readonly { readonly name: string; readonly id: number }[]) {
    const rows = new Set(stored.map(({ name, id }) => `${id} ${name}`));
    const seen = new Set<string>();
    const names = stored.map(({ name }) => name);
    return {
      lost: [...this.acknowledged].filter(([name, id]) => !rows.has(`${id} ${name}`)),
      twice: names.filter((name) => seen.size === seen.add(name).size),
      unasked: names.filter((name) => !this.sent.has(name)),
    };
  }

  /**
   * Compares the admitted requests with a limit per minute. Counts that were not written when a process ended (`ends`) are lost: those of
   * its last moments, and those of the preceding span in which writing was impossible.
   */
  admission(limit: number, ends: readonly number[], blocked: readonly Span[]) {
    const losses = ends.map((to) => ({ from: unwrittenSince(to, blocked), to }));
    const isLost = (time: number) => losses.some(({ from, to }) => time >= from && time <= to);
    const all = [...this.admitted.values()];
    const counted = all.map((times) => times.filter((time) => !isLost(time)).length);
    const total = all.flat().length;
    return {
      /** Requests above the limit that lost counts do not explain; 0 or less is expected. */
      unexplained: Math.max(0, ...counted) - limit,
      /** The number of requests in all minutes, and how many of them may have been lost from the counts. */
      total,
      lost: total - counted.reduce((sum, count) => sum + count, 0),
    };
  }
}

function unwrittenSince(end: number, blocked: readonly Span[]): number {
  const since = end - UNWRITTEN_MS;
  const before = blocked.filter(({ from, to }) => to >= since && from <= end).map(({ from }) => from);
  return Math.min(since, ...before.map((from) => from - UNWRITTEN_MS));
}
