import { Logger } from '@nestjs/common';
import { expect, it, onTestFinished } from 'vitest';
import { HeldLog } from './app-logger.js';

it('what is told while the service is made is told to its logger once that is there, in order, and once', () => {
  const held = new HeldLog();
  Logger.overrideLogger(held);
  onTestFinished(() => Logger.overrideLogger(false));
  const database = new Logger('Database');
  database.log('Mapped');
  database.warn('a warning');
  database.error('a failure', 'its stack');
  database.fatal('the end');
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (...told: unknown[]) =>
      lines.push([level, ...told]);
  const logger = { log: note('log'), warn: note('warn'), error: note('error'), fatal: note('fatal') };
  held.tell(logger);
  held.tell(logger);
  expect(lines).toEqual([
    ['warn', 'a warning', 'Database'],
    ['error', 'a failure', 'its stack', 'Database'],
    ['fatal', 'the end', 'Database'],
  ]);
});
