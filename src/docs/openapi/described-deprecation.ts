import type { INestApplication } from '@nestjs/common';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import {
  DEPRECATION_EXTENSION,
  type Deprecation,
  REMOVED_EXTENSION,
  SUNSET_EXTENSION,
} from '../../http/deprecation/deprecated.decorator.js';
import { effectiveSunset } from '../../http/deprecation/deprecation.guards.js';
import type { OperationObject } from './document-outlines.js';

/** Adds to a deprecated operation when it is removed, or that it was removed, and its replacement. */
export function describeDeprecation(operation: OperationObject, app: INestApplication): void {
  const extended = operation as OperationObject & Record<`x-${string}`, unknown>;
  const deprecation = extended[DEPRECATION_EXTENSION] as Deprecation | undefined;
  if (!deprecation) return;
  const sunset = effectiveSunset(deprecation, app.get(Settings));
  const isRemoved = app.get(Clock).now() >= sunset;
  const date = new Date(sunset).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  operation.deprecated = true;
  operation.description += isRemoved
    ? ` Removed on ${date}: it answers 410 \`operation_removed\` alone.`
    : ` Deprecated: it will be removed on ${date}.`;
  operation.description += ` Use \`${deprecation.replacement}\` instead.`;
  extended[SUNSET_EXTENSION] = new Date(sunset).toISOString();
  if (isRemoved) extended[REMOVED_EXTENSION] = true;
}
