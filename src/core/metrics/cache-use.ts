/** Hits and misses of a cache since the start. */
export class CacheUse {
  /** Look-ups that hit. */
  hits = 0;
  /** Look-ups that missed. */
  misses = 0;
}
