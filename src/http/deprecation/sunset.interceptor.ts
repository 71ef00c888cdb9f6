import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { callerOf } from '../../auth/caller.js';
import { Clock } from '../../clock.js';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { Metrics } from '../../metrics/metrics.js';
import { routeTemplateOf } from '../../metrics/route-template.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { effectiveSunset } from './effective-sunset.js';

/** Counts who still calls a deprecated operation, and refuses it from its sunset on. */
@Injectable()
export class SunsetInterceptor implements NestInterceptor {
  private readonly calls;

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly reflector: Reflector,
    metrics: Metrics,
  ) {
    this.calls = metrics.counter(
      'petstore_deprecated_requests_total',
      'Calls of deprecated operations, by client.',
      ['method', 'route', 'client'],
    );
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (deprecation) this.admit(context.switchToHttp().getRequest<Request>(), deprecation);
    return next.handle();
  }

  private admit(request: Request, deprecation: Deprecation): void {
    const client = callerOf(request)?.clientId ?? 'anonymous';
    this.calls.inc({ method: request.method, route: routeTemplateOf(request), client });
    const sunset = effectiveSunset(deprecation, this.settings);
    if (this.clock.now() < sunset) return;
    throw new ApiError(HTTP_ERRORS.operation_removed, {
      params: { date: new Date(sunset).toISOString().slice(0, 10) },
    });
  }
}
