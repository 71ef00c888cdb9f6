import { Global, Module } from '@nestjs/common';
import { ManagementServer } from './management-server.js';
import { Metrics } from './metrics.js';

/** Provides Metrics to every module and serves them on the management port. */
@Global()
@Module({ providers: [Metrics, ManagementServer], exports: [Metrics, ManagementServer] })
export class MetricsModule {}
