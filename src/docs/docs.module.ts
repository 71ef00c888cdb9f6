import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController, Readiness } from './health/health.controller.js';
import { SchemaNames } from './openapi/schema-names.js';
import { SwaggerUi } from './openapi/swagger-ui.js';

/** API documents, pages for people, /health/live and /health/ready. */
@Module({
  imports: [DiscoveryModule, TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [Readiness, SchemaNames, SwaggerUi],
})
export class DocsModule {}
