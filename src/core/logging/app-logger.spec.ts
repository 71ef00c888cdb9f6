import { Logger } from '@nestjs/common';
import { expect, it, vi } from 'vitest';
import { Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { AppLogger } from './app-logger.js';

const failed = new Error('no stock');
const STACK = 'Error: no stock\n    at order (orders.ts:1:1)';

it.each<[string, (logger: Logger) => void, fields: object, text: string]>([
  ['a text', (logger) => logger.log('sold'), {}, 'sold'],
  ['an exact number', (logger) => logger.log({ id: 5n }), {}, '{ id: 5n }'],
  ['an object behind a text', (logger) => logger.warn('sold', { id: 5n }), {}, 'sold { id: 5n }'],
  ['two texts', (logger) => logger.log('a', 'b'), {}, 'a b'],
  ['an Error', (logger) => logger.error(failed), { stack: failed.stack }, 'no stock'],
  [
    'an Error behind a text',
    (logger) => logger.error('Failed', failed),
    { stack: failed.stack },
    'Failed: no stock',
  ],
  ['a stack behind a text', (logger) => logger.error('Failed', STACK), { stack: STACK }, 'Failed'],
])('logs what a module logs with the logger of Nest: %s', (_, write, fields, text) => {
  const logger = new AppLogger(new Settings({}), new Metrics());
  const lines = ['info', 'warn', 'error'].map((level) =>
    vi.spyOn(logger.pino, level as 'info').mockReturnValue(undefined),
  );
  Logger.overrideLogger(logger);
  write(new Logger('Orders'));
  Logger.overrideLogger(false);
  expect(lines.flatMap(({ mock }) => mock.calls)).toEqual([[{ context: 'Orders', ...fields }, text]]);
});
