import type { Settings } from '../../config/settings.js';
import type { Deprecation } from './deprecated.decorator.js';

/** When the operation really goes, in ms since the epoch: its own date, or SUNSET_NOT_BEFORE if that is later. */
export function effectiveSunset(
  deprecation: Deprecation,
  settings: Pick<Settings, 'sunsetNotBefore'>,
): number {
  return Math.max(deprecation.sunset, settings.sunsetNotBefore);
}
