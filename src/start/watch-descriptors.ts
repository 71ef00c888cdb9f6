import { closeSync, openSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { Outage } from '../database/outage.js';

/** How often a descriptor is tried, in milliseconds. */
const PERIOD_MS = 1_000;
/** For how long descriptors must have been free, in milliseconds, to say so. */
const QUIET_MS = 10_000;
/** The process, or the machine, has none left. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE']);

/** Logs once when no file descriptor is left, and when some are free again: Node.js then closes new connections without an error. */
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
