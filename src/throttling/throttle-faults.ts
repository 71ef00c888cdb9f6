import {
  THROTTLER_BLOCK_DURATION,
  THROTTLER_KEY_GENERATOR,
  THROTTLER_LIMIT,
  THROTTLER_SKIP,
  THROTTLER_TRACKER,
} from '@nestjs/throttler/dist/throttler.constants.js';

/** What Throttler's decorators may name: the windows of a caller. `@SkipThrottle()` without names says `default`. */
const WINDOWS: ReadonlySet<string> = new Set(['minute', 'day']);
const SKIPPED: ReadonlySet<string> = new Set([...WINDOWS, 'default']);
/** Options of `@Throttle()` that would be ignored. */
const IGNORED = [
  [THROTTLER_BLOCK_DURATION, 'blockDuration'],
  [THROTTLER_TRACKER, 'getTracker'],
  [THROTTLER_KEY_GENERATOR, 'generateKey'],
] as const;

/** The fault of `@Throttle()` or `@SkipThrottle()` on a class or method: a name or an option that would have no effect. */
export function throttleFault(target: object): string | undefined {
  for (const key of Reflect.getMetadataKeys(target).map(String)) {
    const limited = nameIn(key, THROTTLER_LIMIT);
    if (limited !== undefined && !WINDOWS.has(limited))
      return `@Throttle() names "${limited}", but the windows are minute and day. Write @Throttle({ minute: { limit, ttl } }).`;
    const skipped = nameIn(key, THROTTLER_SKIP);
    if (skipped !== undefined && !SKIPPED.has(skipped))
      return `@SkipThrottle() names "${skipped}", but the windows are minute and day. Name one of them, or none to skip both.`;
    for (const [prefix, option] of IGNORED)
      if (key.startsWith(prefix) && Reflect.getMetadata(key, target) !== undefined)
        return `${option} of @Throttle() is not supported. Remove it.`;
  }
  return undefined;
}

/** The fault of a `@Throttle()` for the day on a `@Public()` operation: its requests count for an address, which has no day. */
export function openThrottleFault(declared: (key: string) => unknown): string | undefined {
  if (declared(`${THROTTLER_LIMIT}day`) === undefined) return undefined;
  return '@Throttle() limits the day, but a @Public() operation counts for an address, which has only the minute. Name minute.';
}

function nameIn(key: string, prefix: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
