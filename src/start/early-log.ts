/** Pino's log levels. */
const LEVELS = { warn: 40, fatal: 60 } as const;

/**
 * Logs to standard error when there is no logger yet or startup has failed: as JSON if the log is JSON, unless standard error is a
 * terminal. `stack` is a member of the JSON, or follows the text on a terminal.
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
