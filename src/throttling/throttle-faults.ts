import {
  THROTTLER_BLOCK_DURATION,
  THROTTLER_KEY_GENERATOR,
  THROTTLER_LIMIT,
  THROTTLER_SKIP,
  THROTTLER_TRACKER,
  THROTTLER_TTL,
} from '@nestjs/throttler/dist/throttler.constants.js';

/** What Throttler's decorators may name: the windows of a caller. `@SkipThrottle()` without names says `default`. */
const WINDOWS: ReadonlySet<string> = new Set(['minute', 'day']);
const SKIPPED: ReadonlySet<string> = new Set([...WINDOWS, 'default']);
/** What numbers of `@Throttle()` are multiples of: headers have whole requests and seconds. */
const COUNTED = [
  [THROTTLER_LIMIT, 'limit', 1, 'a whole number from 1'],
  [THROTTLER_TTL, 'ttl', 1_000, 'whole seconds in milliseconds, such as 60_000'],
] as const;
/** Options of `@Throttle()` that would be ignored. */
const IGNORED = [
  [THROTTLER_BLOCK_DURATION, 'blockDuration'],
  [THROTTLER_TRACKER, 'getTracker'],
  [THROTTLER_KEY_GENERATOR, 'generateKey'],
] as const;

/** The fault of `@Throttle()` or `@SkipThrottle()` on a class or method: a name or an option without effect, or a wrong number. */
export function throttleFault(target: object): string | undefined {
  for (const key of Reflect.getMetadataKeys(target).map(String)) {
    const limited = nameIn(key, THROTTLER_LIMIT);
    if (limited !== undefined && !WINDOWS.has(limited))
      return `@Throttle() names "${limited}", but the windows are minute and day. Write @Throttle({ minute: { limit, ttl } }).`;
    const skipped = nameIn(key, THROTTLER_SKIP);
    if (skipped !== undefined && !SKIPPED.has(skipped))
      return `@SkipThrottle() names "${skipped}", but the windows are minute and day. Name one of them, or none to skip both.`;
    const value: unknown = Reflect.getMetadata(key, target);
    for (const [prefix, option, unit, rule] of COUNTED)
      if (key.startsWith(prefix) && typeof value === 'number' && !(value >= unit && value % unit === 0))
        return `${option} of @Throttle() is ${value}. Write ${rule}.`;
    for (const [prefix, option] of IGNORED)
      if (key.startsWith(prefix) && value !== undefined)
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
