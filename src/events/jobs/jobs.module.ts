import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { JobMetrics } from './job-metrics.js';
import { Jobs } from './jobs.js';
import { Leases } from './leases.js';

/** Provides Jobs and Leases to every module. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [JobMetrics, Jobs, Leases],
  exports: [Jobs, Leases],
})
export class JobsModule {}
