import { Global, Module } from '@nestjs/common';
import { DEFAULT_SETTINGS, Settings, loadSettings } from './config/settings.js';
import { AppLogger } from './logging/app-logger.js';
import { ManagementServer } from './metrics/management-server.js';
import { Metrics } from './metrics/metrics.js';
import { Clock, SystemClock } from './time/clock.js';

const DEFAULTS = { token: DEFAULT_SETTINGS, optional: true };
const OWN_CLOCK = { token: SystemClock, optional: true };

/**
 * Provides settings, clock, logger and metrics to every module. The clock is the machine's, or the one that a `@Global()` module provides
 * under `SystemClock`.
 */
@Global()
@Module({
  providers: [
    { provide: Settings, inject: [DEFAULTS], useFactory: loadSettings },
    { provide: Clock, inject: [OWN_CLOCK], useFactory: (own?: Clock) => own ?? new SystemClock() },
    AppLogger,
    Metrics,
    ManagementServer,
  ],
  exports: [Settings, Clock, AppLogger, Metrics, ManagementServer],
})
export class CoreModule {}
