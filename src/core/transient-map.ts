/** After this number of deletions, if at least as many as there are entries, the entries move to a new Map. */
const MAX_DELETED = 128;

/**
 * A Map for short-lived entries of requests, such as running reads. Deleted entries fill the table of a Map. V8 then allocates a new table,
 * and the old one keeps a reference to it and to its contents. Once one such table is in the old generation, which is rarely collected,
 * every later table survives with everything that was ever in it, including whole requests. Here the entries move to a new Map before that
 * becomes a chain (docs/decisions/0033-heap.md).
 */
export class TransientMap<Key, Value> {
  private entries = new Map<Key, Value>();
  private deleted = 0;

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  /** Sets the value of a key; a new key comes last. */
  set(key: Key, value: Value): void {
    this.entries.set(key, value);
  }

  delete(key: Key): boolean {
    if (!this.entries.delete(key)) return false;
    this.deleted += 1;
    if (this.deleted >= MAX_DELETED && this.deleted >= this.entries.size) {
      this.entries = new Map(this.entries);
      this.deleted = 0;
    }
    return true;
  }

  clear(): void {
    this.entries = new Map();
    this.deleted = 0;
  }

  /** The oldest entry; undefined if empty. */
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

  /** A copy of the entries, oldest first. */
  all(): [Key, Value][] {
    return [...this.entries];
  }
}
