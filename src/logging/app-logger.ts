import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import { Injectable, type LoggerService } from '@nestjs/common';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import { Settings } from '../config/settings.js';

/** How long the last lines may take at the end, in milliseconds. */
const FINISH_LIMIT_MS = 1_000;

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

  constructor({ logLevel }: Settings) {
    const options = { level: logLevel, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
    // Asynchronously: a pipe whose reader is slow would hold every request up. The rest is written at exit.
    this.lines = process.stdout.isTTY ? undefined : destination({ dest: 1, sync: false });
    this.pino = pino(options, this.lines ?? prettyStream());
  }

  /**
   * Writes what is not written yet, and ends. What the reader does not take within a second is given up: pino would try for
   * ever at exit, and the process could not end.
   */
  async finish(): Promise<void> {
    const { lines } = this;
    if (!lines) return;
    await Promise.race([new Promise((resolve) => lines.flush(resolve)), setTimeout(FINISH_LIMIT_MS)]);
    this.giveUp();
  }

  /** Lets the process end at once, whatever is not written yet. */
  giveUp(): void {
    if (this.lines) this.lines.flushSync = () => undefined;
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

/** Readable lines. What makes them is read only for a terminal: it would hold every other start up. */
function prettyStream(): DestinationStream {
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return pretty({ ignore: 'context', sync: true });
}
