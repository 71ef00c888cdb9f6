import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ClientRequests } from '../../auth/usage/client-requests.service.js';
import { callerOf } from '../../auth/caller.js';
import { Clock } from '../../core/time/clock.js';
import { Settings } from '../../core/config/settings.js';
import { ApiError } from '../../core/errors/api-error.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { DECLARATIONS, type Deprecation, declaredOn } from '../../core/declared-operation.js';
import { HandlerMetadata, requestOf, responseOf } from '../../core/execution-context.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { operationOf, routeTemplateOf } from '../request-records.js';

/** When the operation is removed, in ms since the Unix epoch: its own date, or SUNSET_NOT_BEFORE if that is later. */
export function effectiveSunset(
  deprecation: Deprecation,
  settings: Pick<Settings, 'sunsetNotBefore'>,
): number {
  return Math.max(deprecation.sunset, settings.sunsetNotBefore);
}

/** Announces deprecated operations, counts their calls by client, and refuses them from their sunset on. */
@Injectable()
export class DeprecationService {
  private readonly calls;
  private readonly sunsets;
  /** Deprecations whose sunset is in the metrics. */
  private readonly shown = new WeakSet<Deprecation>();
  private readonly prefix;
  /** The header fields of each, cached because formatting a date takes longer than all other headers of a response. */
  private readonly fields = new HandlerMetadata(([handler]) =>
    this.fieldsOf(declaredOn(handler).deprecation),
  );

  constructor(
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly byClient: ClientRequests,
    metrics: Metrics,
  ) {
    this.prefix = publicPrefix(settings.publicBaseUrl);
    this.calls = metrics.tally(
      'petstore_deprecated_requests_total',
      'Calls to deprecated operations. `petstore usage list --deprecated` lists the clients that make them.',
      // There is no client label, because there may be a hundred thousand clients.
      ['method', 'route'],
    );
    this.sunsets = metrics.gauge(
      'petstore_deprecated_sunset_timestamp_seconds',
      'Removal time of each deprecated operation that is called, in seconds since the Unix epoch.',
      ['route'],
    );
  }

  /** Sets `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the `Link` to the replacement. */
  announce(context: ExecutionContext): void {
    const response = responseOf(context);
    const fields = this.fields.of(context);
    for (const name in fields) response.setHeader(name, fields[name] ?? '');
  }

  private fieldsOf(deprecation: Deprecation | undefined): Readonly<Record<string, string>> {
    if (!deprecation) return {};
    const page = deprecation.link.startsWith('/') ? this.prefix + deprecation.link : deprecation.link;
    return {
      Deprecation: `@${Math.floor(deprecation.since / 1000)}`,
      Sunset: new Date(effectiveSunset(deprecation, this.settings)).toUTCString(),
      // Nothing has set a Link yet, because this is the first guard.
      Link: `<${page}>; rel="deprecation"; type="text/html"`,
    };
  }

  /** Whether a handler's operation is past its sunset. It responds with 410, but its path no longer supports the method. */
  isRemoved(handler: object): boolean {
    const { deprecation } = declaredOn(handler);
    return deprecation !== undefined && effectiveSunset(deprecation, this.settings) <= this.clock.now();
  }

  /** Counts the call; throws operation_removed from the sunset on. */
  admit(deprecation: Deprecation, request: Request): void {
    const called = { method: request.method, route: routeTemplateOf(request) };
    this.calls.add(called.method, called.route);
    const caller = callerOf(request);
    if (caller) this.byClient.noteDeprecated(caller, operationOf(called));
    const sunset = effectiveSunset(deprecation, this.settings);
    if (!this.shown.has(deprecation)) {
      this.shown.add(deprecation);
      this.sunsets.set({ route: called.route }, sunset / 1_000);
    }
    if (this.clock.now() < sunset) return;
    throw new ApiError(HTTP_ERRORS.operation_removed, {
      params: { date: new Date(sunset).toISOString().slice(0, 10), replacement: deprecation.replacement },
    });
  }
}

/** Announces a deprecation on every response. It is the first guard, so that refusals include the headers. */
@Injectable()
export class DeprecationHeadersGuard implements CanActivate {
  constructor(private readonly deprecations: DeprecationService) {}

  canActivate(context: ExecutionContext): boolean {
    if (requestOf(context)) this.deprecations.announce(context);
    return true;
  }
}

/** Counts calls to a deprecated operation, and refuses it from its sunset on. It is the last guard, so that only admitted calls count. */
@Injectable()
export class SunsetGuard implements CanActivate {
  constructor(private readonly deprecations: DeprecationService) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const deprecation = request && DECLARATIONS.of(context).deprecation;
    if (deprecation) this.deprecations.admit(deprecation, request);
    return true;
  }
}
