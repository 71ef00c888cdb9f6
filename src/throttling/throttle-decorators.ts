import type { Resolvable } from '@nestjs/throttler';
import {
  THROTTLER_BLOCK_DURATION,
  THROTTLER_KEY_GENERATOR,
  THROTTLER_LIMIT,
  THROTTLER_SKIP,
  THROTTLER_TRACKER,
  THROTTLER_TTL,
} from '@nestjs/throttler/dist/throttler.constants.js';

/** Prefix of all metadata keys of Throttler's decorators. */
const THROTTLER = 'THROTTLER:';

/** The names that Throttler's decorators may use: the windows of a caller. `@SkipThrottle()` without names uses `default`. */
const WINDOWS: ReadonlySet<string> = new Set(['minute', 'day']);
const SKIP_ALL = `${THROTTLER_SKIP}default`;
const SKIPPED: ReadonlySet<string> = new Set([...WINDOWS, 'default']);
/** The unit of each number of `@Throttle()`: headers contain whole requests and seconds. */
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

/** What the decorators declare for one window of an operation; undefined if nothing. */
export interface DecoratedWindow {
  readonly isSkipped: boolean;
  readonly limit: Resolvable<number> | undefined;
  readonly ttl: Resolvable<number> | undefined;
}

type Targets = readonly [handler: object, controller: object];

/** Whether a handler or controller has any of Throttler's decorators. */
export function isDecorated(target: object): boolean {
  return Reflect.getMetadataKeys(target).some((key) => String(key).startsWith(THROTTLER));
}

/**
 * What the decorators declare for a window. A method takes precedence over its class, and a class over its parent class. Throttler itself
 * reads each metadata key separately, so that a method could not override its class's `@SkipThrottle()`.
 */
export function decoratedWindow(name: string, [handler, controller]: Targets): DecoratedWindow {
  const targets = [handler, ...classesOf(controller)];
  const nearest = (prefix: string) =>
    targets.map((target) => own(prefix + name, target)).find((one) => one !== undefined) as
      Resolvable<number> | undefined;
  return {
    isSkipped: targets.map((target) => skipOn(target, name)).find((one) => one !== undefined) ?? false,
    limit: nearest(THROTTLER_LIMIT),
    ttl: nearest(THROTTLER_TTL),
  };
}

/** Whether a class or method skips a window; undefined if it declares nothing. A limit means that it does not. */
function skipOn(target: object, name: string): boolean | undefined {
  const skipped = own(THROTTLER_SKIP + name, target) ?? own(SKIP_ALL, target);
  if (skipped !== undefined) return skipped === true;
  return isLimitedOn(target, name) ? false : undefined;
}

function isLimitedOn(target: object, name: string): boolean {
  return [THROTTLER_LIMIT, THROTTLER_TTL].some((prefix) => own(prefix + name, target) !== undefined);
}

function own(key: string, target: object): unknown {
  return Reflect.getOwnMetadata(key, target);
}

function classesOf(controller: object): object[] {
  const parent = Object.getPrototypeOf(controller) as object;
  return [controller, ...(parent === Function.prototype ? [] : classesOf(parent))];
}

/** The error for a `@Throttle()` or `@SkipThrottle()` that has no effect or an invalid number. */
export function throttleError(target: object): string | undefined {
  for (const name of WINDOWS)
    if (skipOn(target, name) && isLimitedOn(target, name))
      return `@Throttle() limits ${name}, but @SkipThrottle() on the same method or class skips it. Remove one of them.`;
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

/** The error for a daily `@Throttle()` on a `@Public()` operation: its requests count for an address, which has no daily window. */
export function openThrottleError(declared: (key: string) => unknown): string | undefined {
  if (declared(`${THROTTLER_LIMIT}day`) === undefined) return undefined;
  return '@Throttle() sets a daily limit, but requests to a @Public() operation count for an address, which has only a limit per minute. Use minute.';
}

function nameIn(key: string, prefix: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}
