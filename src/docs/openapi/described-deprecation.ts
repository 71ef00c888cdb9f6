import type { INestApplication } from '@nestjs/common';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import type { Deprecation } from '../../core/declared-operation.js';
import { effectiveSunset } from '../../http/deprecation/deprecation.guards.js';
import { describe, type OperationObject } from './document-outlines.js';

/** Adds to a deprecated operation when it will be or was removed, and its replacement; returns the time in ISO 8601. */
export function describeDeprecation(
  operation: OperationObject,
  deprecation: Deprecation,
  app: INestApplication,
): string {
  const sunset = effectiveSunset(deprecation, app.get(Settings));
  const isRemoved = app.get(Clock).now() >= sunset;
  const date = new Date(sunset).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  operation.deprecated = true;
  const removal = isRemoved
    ? `Removed on ${date}. Every request returns 410 \`operation_removed\`.`
    : `Deprecated: it will be removed on ${date}.`;
  describe(operation, removal, `Use \`${deprecation.replacement}\` instead.`);
  const instant = new Date(sunset).toISOString();
  Object.assign(operation, { 'x-sunset': instant, ...(isRemoved ? { 'x-removed': true } : {}) });
  return instant;
}
