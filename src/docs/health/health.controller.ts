import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type HealthCheckResult, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { SkipThrottle } from '@nestjs/throttler';
import { Public } from '../../auth/auth.decorators.js';
import { JsonReader, WriteAvailability } from '../../database/database.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { ServedUnderOverload } from '../../http/operations/served-under-overload.decorator.js';

/** Whether the service accepts requests. While it is stopping, /health/ready responds with 503. */
@Injectable()
export class Readiness {
  isStopping = false;
}

/** Timeout of the database query, in milliseconds. */
const PING_TIMEOUT_MS = 2_000;
/** How long the result of one database query is cached, in milliseconds. */
const PING_SHARED_MS = 1_000;

/** Liveness and readiness for an orchestrator. */
@ApiExcludeController()
@Public()
@SkipThrottle()
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly reader: JsonReader,
    private readonly readiness: Readiness,
    private readonly writeAvailability: WriteAvailability,
  ) {}

  /** Liveness: 200 as long as the process responds. */
  @Get('live')
  @ServedUnderOverload()
  @Header('Cache-Control', 'no-store')
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /** Readiness: 200 if the database responds and accepts writes and the service is not shutting down; otherwise 503. */
  @Get('ready')
  @ServedUnderOverload()
  @Header('Cache-Control', 'no-store')
  async ready(): Promise<HealthCheckResult> {
    // The shutdown and the outage were logged when they began; probes do not log them again.
    if (this.readiness.isStopping) throw unavailable('it is shutting down', undefined, true);
    if (this.writeAvailability.reason !== undefined)
      throw unavailable(this.writeAvailability.reason, undefined, true);
    if (this.reader.error) throw this.reader.error;
    try {
      return await this.health.check([
        () =>
          this.indicators
            .check('database')
            .attempt(() => this.reader.ping())
            .withTimeout(PING_TIMEOUT_MS)
            .cacheFor(PING_SHARED_MS),
      ]);
    } catch (error) {
      // If this query has detected damage in the database, that reason is more precise.
      throw this.reader.error ?? unavailable('the database does not respond', error);
    }
  }
}

function unavailable(reason: string, cause?: unknown, isLogged = false): ApiError {
  return new ApiError(HTTP_ERRORS.service_unavailable, {
    params: { reason },
    headers: { 'Retry-After': '5' },
    cause,
    isLogged,
  });
}
