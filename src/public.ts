// The platform's public API: everything that features may use, in this project or in a separate package (`petstore-service`). `npm run
// lint` reads this list: within src, a feature may import only the files named here. Everything here changes only with a new major version
// of the service.
import './core/duplicate-check.js';

// Declarations of features, collected at startup; the service does not start if two clash.
export { type Scope, type ScopeOptions, defineScope, defineScopes } from './auth/scopes.js';
export { type ErrorDefinition, type ErrorRow, defineErrors } from './core/errors/define-errors.js';
export {
  type DomainEvent,
  DomainEvents,
  type DurableEvent,
  type DurableListenerOptions,
  type DurableOptions,
  OnDomainEvent,
  defineEvent,
} from './events/domain-events.js';
export type { Delivery } from './events/outbox/durable-listener.js';
export { Outbox } from './events/outbox/outbox.js';

// Webhook events.
export { type WebhookEvent, defineWebhookEvent } from './webhooks/webhook-events.js';
export { type MessageOptions, WebhookMessages } from './webhooks/webhook-messages.js';

// Background jobs.
export { Job, type JobOptions } from './events/jobs/job.decorator.js';
export { Jobs } from './events/jobs/jobs.js';

// Settings: typed, read from the environment, and documented.
export {
  type DeclaredSettings,
  type SettingDefinition,
  type ValuesOf,
  defineSettings,
} from './core/config/define-settings.js';
export {
  type SettingType,
  baseUrl,
  flag,
  host,
  httpUrl,
  instant,
  oneOf,
  origins,
  textUpTo,
  wholeNumber,
} from './core/config/setting.js';

// Operations: callers, names and errors.
export { Public, RequireScopes } from './auth/auth.decorators.js';
export { type Caller, CurrentCaller, callerOf } from './auth/caller.js';
export { NEXT_PAGE, Operation, type SuccessResponse, Tag } from './http/declarations/operation.decorator.js';
export { ApiErrors, ErrorSchema } from './core/errors/api-errors.decorator.js';
export { Idempotent } from './http/idempotency/idempotent.decorator.js';
export { Cached } from './http/caching/cached.decorator.js';
export { ServedUnderOverload } from './http/operations/served-under-overload.decorator.js';
export { IfMatch } from './http/replies/if-match.decorator.js';
export { Precondition, entityTagOf } from './http/replies/precondition.js';
export { Deprecated } from './http/deprecation/deprecated.decorator.js';
export type { Deprecation } from './core/declared-operation.js';

// Errors: ApiError throws a row of the catalogue; these rows are the platform's own.
export { ApiError, type ApiErrorOptions, type ErrorBody, type ErrorDetail } from './core/errors/api-error.js';
export { HTTP_ERRORS } from './core/errors/http.errors.js';
export { isForeignKeyViolation, uniqueViolation } from './database/constraint-violations.js';

// Fields of bodies, paths, queries and responses.
export {
  CalendarDate,
  Decimal,
  Double,
  Duration,
  Enum,
  Flag,
  Instant,
  Int64,
  Integer,
  StringList,
  Text,
  Uuid,
} from './http/validation/fields.js';
export { type FieldKind, type FieldOptions, Rule, defineField } from './http/validation/define-field.js';
export { Consumes } from './http/body/consumes.decorator.js';
export { MergePatch, type MergePatchOf } from './http/validation/merge-patch.js';

// Pagination, filters and sorting.
export { Filter, Sort } from './http/paging/selection.decorators.js';
export { Cursor, PageQuery, Paged, Pager } from './http/paging/pager.js';
export {
  BY_CREATION,
  BY_INT64_ID,
  type Page,
  type PageRequest,
  type Position,
  int64OfPosition,
  keysetPage,
} from './database/keyset-page.js';

// Database.
export { TablesModule, type Tables } from './database/tables.module.js';
export { INT64_MAX, INT64_MIN, Int64Column, Int64Key, int64Transformer } from './database/int64.js';
export { type JsonPage, JsonRows, JsonText } from './database/json-rows.js';
export { References } from './database/references.js';
export { type Migration } from './database/schema.js';
export { Transactions } from './database/transactions/transactions.js';
export { type Sweep, Sweeper } from './database/sweeper.js';
export { type DemoDataProvider, ProvidesDemoData } from './database/demo-data.js';

// Entity tags.
export { entityTag, matchesEntityTag } from './http/replies/entity-tag.js';

// Replaceable parts: a global module provides another class under one of these names.
export {
  type CredentialScheme,
  CredentialVerifier,
  type VerifiedCredential,
} from './auth/credential-verifier.js';
export { type QuotaAccount, QuotaPolicy } from './throttling/quota-policy.js';
export type { PlanLimits } from './core/config/plan-table.js';
export { PLANS, type Plan } from './throttling/plans.js';
export { type QuotaSubject } from './throttling/quota.js';

// Injectable providers.
export { Clock, SystemClock } from './core/time/clock.js';
export { Settings } from './core/config/settings.js';
export { Metrics } from './core/metrics/metrics.js';

// Events of the platform.
export { CLIENTS_EVENTS, type ClientChanged, type ClientsEventName } from './auth/clients/clients.events.js';
export {
  API_KEY_BANNED,
  type ApiKeyBanned,
  QUOTA_THRESHOLD,
  type QuotaThreshold,
} from './throttling/throttling.events.js';
