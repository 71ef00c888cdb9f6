import '../core/duplicate-check.js';
import { Global, Module, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { MulterModule } from '@nestjs/platform-express';
import { ApiKeyGuard } from '../auth/api-key.guard.js';
import { AuthModule } from '../auth/auth.module.js';
import { ScopesGuard } from '../auth/scopes.guard.js';
import { CacheMetrics } from './caching/cache-metrics.js';
import { ResponseCache } from './caching/response-cache.js';
import { CoreModule } from '../core/core.module.js';
import { DatabaseModule } from '../database/database.module.js';
import {
  DeprecationHeadersGuard,
  DeprecationService,
  SunsetGuard,
} from './deprecation/deprecation.guards.js';
import { EarlyResponses } from './replies/early-response.js';
import { EventStreams } from './server/event-streams.js';
import { EventsModule } from '../events/domain-events.js';
import { Connections } from './server/connections.js';
import { MalformedRequestMiddleware } from './server/malformed-request.middleware.js';
import { Overload } from './server/overload.js';
import { ParserRefusals } from './server/parser-refusals.js';
import { UnmatchedRoutes } from './chain/unmatched-routes.js';
import { Upgrades } from './server/upgrades.js';
import { BodyGuard } from './chain/body.guard.js';
import { RequestHeadGuard } from './chain/request-head.guard.js';
import { IdempotencyStore } from './idempotency/idempotency.store.js';
import { Exceptions } from './chain/exceptions.js';
import { ErrorFilter } from './replies/error.filter.js';
import { ValidationPipe } from './validation/validation.pipe.js';
import { RequestRecords } from './request-records.js';
import { ModuleChecksModule, LateChecks } from './declarations/startup-checks.js';
import { QuotaGuard } from '../throttling/quota.guard.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';

const OF_ROUTES = [EarlyResponses, IdempotencyStore, ResponseCache];

/** Provides the dependencies of the `@Cached()` and `@Idempotent()` guards in every module. */
@Global()
@Module({ providers: OF_ROUTES, exports: OF_ROUTES })
class RoutesModule {}

/** Parses field and file names in forms as UTF-8, as browsers send them (RFC 7578 section 5.1); multer assumes Latin-1. */
@Global()
@Module({ imports: [MulterModule.register({ defParamCharset: 'utf8' })], exports: [MulterModule] })
class FormsModule {}

/**
 * Everything that a request passes before it reaches a feature. The list below is the chain, in order. If several refusals apply, the order
 * decides which is sent; test/api/chain-order.spec.ts tests it. The middlewares of app.setup.ts run before the chain, and BodyGuard, which
 * setupApp() adds, after all global guards.
 */
@Module({
  imports: [
    DiscoveryModule,
    CoreModule,
    EventsModule,
    ModuleChecksModule,
    DatabaseModule,
    RoutesModule,
    FormsModule,
    ThrottlingModule,
    AuthModule,
  ],
  providers: [
    ...global(APP_GUARD, DeprecationHeadersGuard),
    ...global(APP_GUARD, ApiKeyGuard),
    ...global(APP_GUARD, QuotaGuard),
    ...global(APP_GUARD, ScopesGuard),
    ...global(APP_GUARD, RequestHeadGuard),
    ...global(APP_GUARD, SunsetGuard),
    ...global(APP_PIPE, ValidationPipe),
    ...global(APP_FILTER, ErrorFilter),
    Exceptions,
    UnmatchedRoutes,
    CacheMetrics,
    BodyGuard,
    DeprecationService,
    LateChecks,
    MalformedRequestMiddleware,
    Connections,
    EventStreams,
    Overload,
    ParserRefusals,
    Upgrades,
    RequestRecords,
  ],
  exports: [AuthModule, DatabaseModule],
})
export class HttpModule {}

/** A part of the chain, which Nest's testing module can override by class. */
function global(token: string, part: Type): Provider[] {
  return [part, { provide: token, useExisting: part }];
}
