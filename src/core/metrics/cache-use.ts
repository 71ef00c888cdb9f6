/** How often a cache had what it was asked for, since the start; a cache counts it, and its metrics show it. */
export class CacheUse {
  /** Answers that came from the cache. */
  hits = 0;
  /** Answers that had to be made. */
  misses = 0;
}
