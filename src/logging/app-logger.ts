import { createRequire } from 'node:module';
import { Injectable, type LoggerService } from '@nestjs/common';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import { Settings } from '../config/settings.js';

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

  constructor({ logLevel }: Settings) {
    const options = { level: logLevel, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
    this.pino = process.stdout.isTTY
      ? pino(options, prettyStream())
      : // Asynchronously: a pipe whose reader is slow would hold every request up. The rest is written at exit.
        pino(options, destination({ dest: 1, sync: false }));
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
