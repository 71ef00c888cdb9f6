import { Logger } from '@nestjs/common';
import { expect, it, onTestFinished } from 'vitest';
import { LogBuffer } from './app-logger.js';

it('what is told while the service is made is told to its logger once that is there, in order, and once', () => {
  const buffer = new LogBuffer();
  Logger.overrideLogger(buffer);
  onTestFinished(() => Logger.overrideLogger(false));
  const database = new Logger('Database');
  new Logger('InstanceLoader').log('a module');
  database.log('a line');
  database.warn('a warning');
  database.error('a failure', 'its stack');
  database.fatal('the end');
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (...told: unknown[]) =>
      lines.push([level, ...told]);
  const logger = { log: note('log'), warn: note('warn'), error: note('error'), fatal: note('fatal') };
  buffer.flushTo(logger);
  buffer.flushTo(logger);
  expect(lines).toEqual([
    ['log', 'a line', 'Database'],
    ['warn', 'a warning', 'Database'],
    ['error', 'a failure', 'its stack', 'Database'],
    ['fatal', 'the end', 'Database'],
  ]);
});
