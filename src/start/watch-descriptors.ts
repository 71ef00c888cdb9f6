import { closeSync, openSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { Outage } from '../database/outage.js';

/** Interval between checks, in milliseconds. */
const PERIOD_MS = 1_000;
/** How long descriptors must have been available, in milliseconds, before that is logged. */
const QUIET_MS = 10_000;
/** The process, or the machine, has none left. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE']);

/**
 * Logs once when no file descriptors are left, and once when they are available again: Node.js then closes new connections without an
 * error.
 */
export function watchDescriptors(): void {
  const outage = new Outage<string>({
    startMessage: (code) =>
      `No file descriptor is free (${code}): new connections are closed. Raise the limit (LimitNOFILE=, ulimit -n), or lower KEEP_ALIVE_TIMEOUT_MS.`,
    endMessage: (seconds) => `File descriptors are free again, after ${seconds} s.`,
    quietMs: QUIET_MS,
    logger: new Logger('Descriptors'),
  });
  setInterval(() => {
    try {
      closeSync(openSync('/dev/null', 'r'));
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (EXHAUSTED.has(code)) outage.note(() => code);
    }
  }, PERIOD_MS).unref();
}
