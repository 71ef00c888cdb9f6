/** After this number of deletions, and at least as many as there are entries, the entries move to a new Map. */
const MAX_DELETED = 128;

/**
 * A Map for short-lived entries of requests, such as running reads.
 *
 * Deleted entries fill the table of a Map. V8 then makes a new table, and the old one keeps a reference to it, and to what it held. Once
 * one such table is in the old generation, which is seldom collected, every later table survives with everything that was ever in it, whole
 * requests among them. Here the entries move to a new Map, before that becomes a chain (docs/decisions/0033-heap.md).
 */
export class TransientMap<Key, Value> {
  private entries = new Map<Key, Value>();
  private deleted = 0;

  /** How many entries there are. */
  get size(): number {
    return this.entries.size;
  }

  /** The value of a key; undefined without one. */
  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  /** Sets the value of a key; a new one comes last. */
  set(key: Key, value: Value): void {
    this.entries.set(key, value);
  }

  /** Deletes a key; returns whether it existed. */
  delete(key: Key): boolean {
    if (!this.entries.delete(key)) return false;
    this.deleted += 1;
    if (this.deleted >= MAX_DELETED && this.deleted >= this.entries.size) {
      this.entries = new Map(this.entries);
      this.deleted = 0;
    }
    return true;
  }

  /** Deletes all. */
  clear(): void {
    this.entries = new Map();
    this.deleted = 0;
  }

  /** The key and the value that came first; undefined without any. */
  first(): [Key, Value] | undefined {
    for (const entry of this.entries) return entry;
    return undefined;
  }

  /** The oldest entries, at most `count`. */
  upTo(count: number): [Key, Value][] {
    const found: [Key, Value][] = [];
    for (const entry of this.entries) if (found.push(entry) >= count) break;
    return found;
  }

  /** The keys and values at this moment, in the order in which they came. */
  all(): [Key, Value][] {
    return [...this.entries];
  }
}
