import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { Global, Injectable, type LoggerService, Module } from '@nestjs/common';
import { type DestinationStream, type Logger, destination, pino } from 'pino';
import { Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';

/** How long the last lines may take at the end, in milliseconds. */
const FINISH_LIMIT_MS = 1_000;
/** Bytes of lines that wait for a slow reader at most; then new ones are dropped. */
const MOST_WAITING_BYTES = 4 * 1_048_576;

/** Where Nest tells of every route and module at each start. */
const START_CHATTER = new Set([
  'RoutesResolver',
  'RouterExplorer',
  'InstanceLoader',
  'NestFactory',
  'NestApplication',
]);

/** Nest's logger on pino: JSON lines on standard output, readable ones on a terminal. */
@Injectable()
export class AppLogger implements LoggerService {
  /** The logger itself, for structured lines. */
  readonly pino: Logger;
  private readonly lines: ReturnType<typeof destination> | undefined;

  constructor({ logLevel }: Settings, metrics: Metrics) {
    const options = { level: logLevel, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
    this.lines = process.stdout.isTTY ? undefined : linesTo(metrics);
    this.pino = pino(options, this.lines ?? prettyStream());
  }

  /** Writes what is not written yet, and nothing from then on. What the reader, or a full disk, does not take within a second is given up. */
  async finish(): Promise<void> {
    const { lines } = this;
    if (!lines) return;
    const written = new Promise((resolve) => lines.once('close', resolve));
    lines.end();
    lines.write = () => false;
    await Promise.race([written, setTimeout(FINISH_LIMIT_MS)]);
  }

  log = (message: unknown, ...rest: unknown[]): void =>
    this.write(START_CHATTER.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  warn = (message: unknown, ...rest: unknown[]): void => this.write('warn', message, rest);
  debug = (message: unknown, ...rest: unknown[]): void => this.write('debug', message, rest);
  verbose = (message: unknown, ...rest: unknown[]): void => this.write('trace', message, rest);
  fatal = (message: unknown, ...rest: unknown[]): void => this.write('fatal', message, rest);

  /** Nest gives an error's stack before the context. */
  error = (message: unknown, ...rest: unknown[]): void => this.write('error', message, rest);

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    const [stack] = rest.length > 1 ? rest : [];
    const fields = {
      ...(typeof context === 'string' ? { context } : {}),
      ...(typeof stack === 'string' ? { stack } : {}),
    };
    if (message instanceof Error) this.pino[level]({ ...fields, stack: message.stack }, message.message);
    else this.pino[level](fields, typeof message === 'string' ? message : JSON.stringify(message));
  }
}

/**
 * Standard output, written asynchronously: a pipe whose reader is slow would hold every request up. Trouble with it never
 * touches a request: what cannot be written waits, and is dropped beyond a bound.
 */
function linesTo(metrics: Metrics): ReturnType<typeof destination> {
  const dropped = metrics.counter(
    'petstore_log_lines_dropped_total',
    'Log lines that were dropped because standard output did not take them: a full disk, or a reader that is stuck.',
    [],
  );
  const lines = destination({ dest: 1, sync: false, maxLength: MOST_WAITING_BYTES });
  lines.on('drop', () => dropped.inc());
  let failing = false;
  lines.on('write', () => (failing = false));
  // Without a listener pino throws it into the process. What was not written is tried again with the next line.
  lines.on('error', ({ message }: Error) => {
    if (!failing) process.stderr.write(`Log lines cannot be written: ${message}\n`);
    failing = true;
  });
  // pino calls it when the process exits, and would try for ever; finish() has a limit.
  lines.flushSync = () => undefined;
  return lines;
}

/** Readable lines. What makes them is read only for a terminal: it would hold every other start up. */
function prettyStream(): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return pretty({ ignore: 'context', sync: true });
}

type Level = 'warn' | 'error' | 'fatal';

/**
 * Holds what is told while the service is made, until its logger is there: a warning of the database or of Redis. Nest's own
 * lines of each module are dropped; what ends the start is told by whoever ends it, and not held.
 */
export class LogBuffer implements LoggerService {
  private readonly buffered: (readonly [level: Level, message: unknown, more: readonly unknown[]])[] = [];

  log(): void {
    // Nest tells of each module and route.
  }

  warn(message: unknown, ...more: unknown[]): void {
    this.buffered.push(['warn', message, more]);
  }

  error(message: unknown, ...more: unknown[]): void {
    this.buffered.push(['error', message, more]);
  }

  fatal(message: unknown, ...more: unknown[]): void {
    this.buffered.push(['fatal', message, more]);
  }

  /** Writes what was buffered to a logger, once. */
  flushTo(logger: LoggerService): void {
    for (const [level, message, more] of this.buffered.splice(0)) logger[level]?.(message, ...more);
  }
}

/** Provides the logger to every module. */
@Global()
@Module({ providers: [AppLogger], exports: [AppLogger] })
export class LoggingModule {}
