import type { LoggerService } from '@nestjs/common';

type Level = 'warn' | 'error' | 'fatal';

/**
 * Holds what is told while the service is made, until its logger is there: a warning of the database or of Redis. Nest's own
 * lines of each module are dropped; what ends the start is told by whoever ends it, and not held.
 */
export class HeldLog implements LoggerService {
  private readonly held: (readonly [level: Level, message: unknown, more: readonly unknown[]])[] = [];

  log(): void {
    // Nest tells of each module and route.
  }

  warn(message: unknown, ...more: unknown[]): void {
    this.held.push(['warn', message, more]);
  }

  error(message: unknown, ...more: unknown[]): void {
    this.held.push(['error', message, more]);
  }

  fatal(message: unknown, ...more: unknown[]): void {
    this.held.push(['fatal', message, more]);
  }

  /** Tells a logger what was held. */
  tell(logger: LoggerService): void {
    for (const [level, message, more] of this.held.splice(0)) logger[level]?.(message, ...more);
  }
}
