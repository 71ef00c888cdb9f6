import type { Answer } from '../../kit/answer.js';

/** What a client was told, kept beside the service to be held against it at the end. */
export class Ledger {
  /** Requests that were answered, by status. */
  readonly answers = new Map<number, number>();
  /** Attempts that found nobody listening. */
  refused = 0;
  /** Attempts whose connection ended before their answer. */
  cut = 0;
  /** Answers that the service never promised to give. */
  readonly unexpected: string[] = [];
  private readonly sent = new Set<string>();
  private readonly acknowledged = new Map<string, number>();
  private readonly admitted = new Map<string, Map<number, number[]>>();

  /** Notes a name before it is sent. */
  send(name: string): void {
    this.sent.add(name);
  }

  /** Notes that the animal of this name was acknowledged with 201. */
  acknowledge(name: string, id: number): void {
    const before = this.acknowledged.get(name);
    if (before !== undefined && before !== id)
      this.unexpected.push(`${name} was acknowledged as ${before} and ${id}`);
    this.acknowledged.set(name, id);
  }

  /** Notes an attempt without an answer, by the code of its error. */
  fail(code: string | undefined): void {
    if (code === 'ECONNREFUSED') this.refused += 1;
    else this.cut += 1;
  }

  /** Animals that were acknowledged. */
  get acknowledgements(): number {
    return this.acknowledged.size;
  }

  /** Notes a status; what may not be answered goes to `unexpected`. */
  answer({ status, headers, text, body }: Answer, allowed: readonly number[], what: string): void {
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    const isAsPromised =
      status !== 503 || (body?.code === 'service_unavailable' && headers.get('retry-after') !== null);
    if (!allowed.includes(status) || !isAsPromised)
      this.unexpected.push(`${what}: ${status} ${text.slice(0, 300)}`);
  }

  /** Notes that a request of this client was admitted, in the window that ends at `reset`, in Unix seconds. */
  admit(client: string, reset: number): void {
    const windows = this.admitted.get(client) ?? new Map<number, number[]>();
    this.admitted.set(client, windows);
    const times = windows.get(reset) ?? [];
    windows.set(reset, times);
    times.push(performance.now());
  }

  /** Windows of a client with the times, in milliseconds of `performance.now()`, at which its requests were admitted. */
  windowsOf(client: string): readonly (readonly number[])[] {
    return [...(this.admitted.get(client)?.values() ?? [])];
  }

  /** Holds what is stored, as name and id, against what was acknowledged. */
  compare(stored: readonly { readonly name: string; readonly id: number }[]): Comparison {
    const ids = new Map<string, number[]>();
    for (const { name, id } of stored) ids.set(name, [...(ids.get(name) ?? []), id]);
    const lost = [...this.acknowledged]
      .filter(([name, id]) => !ids.get(name)?.includes(id))
      .map(([name]) => name);
    const twice = [...ids]
      .filter(([name, found]) => this.sent.has(name) && found.length > 1)
      .map(([name]) => name);
    const unasked = [...ids.keys()].filter((name) => name.startsWith('torture-') && !this.sent.has(name));
    return { lost, twice, unasked };
  }
}

/** What does not agree between a store and its ledger: each list holds names, and is empty when all is well. */
export interface Comparison {
  /** Acknowledged and not stored. */
  readonly lost: readonly string[];
  /** Sent once with its retries, and stored more than once. */
  readonly twice: readonly string[];
  /** Stored and never sent. */
  readonly unasked: readonly string[];
}
