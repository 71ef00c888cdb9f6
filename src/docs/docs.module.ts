import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { HealthController, Readiness } from './health/health.controller.js';
import { SwaggerUi } from './openapi/swagger-ui.js';

/** Documents and pages for people, /health/live and /health/ready. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [Readiness, SwaggerUi],
})
export class DocsModule {}
