/** Levels of the log, as pino numbers them. */
const LEVELS = { warn: 40, fatal: 60 } as const;

/**
 * Writes a line to standard error about a start that has no logger yet, or has failed: JSON where the log is JSON, unless standard error
 * is a terminal. `stack` is a member of the JSON, and follows the text on a terminal.
 */
export function logEarly(level: keyof typeof LEVELS, message: string, stack?: string): void {
  const isJson = !process.stdout.isTTY && !process.stderr.isTTY;
  const line = {
    level: LEVELS[level],
    time: new Date().toISOString(),
    context: 'Start',
    ...(stack === undefined ? {} : { stack }),
    msg: message,
  };
  process.stderr.write(
    isJson ? `${JSON.stringify(line)}\n` : `${[message, stack ?? []].flat().join('\n')}\n`,
  );
}
