// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
import { PetstoreError, type RefusalClass } from '../errors.js';

/** 429 `api_key_banned`. The key kept sending requests during an earlier `Retry-After`. Each second with a refused request is a strike, and 20 strikes lead to a ban. Bans last 5 minutes, then 15 minutes, 60 minutes, and 24 hours. */
export class ApiKeyBannedError extends PetstoreError {
  declare readonly code: 'api_key_banned';
  override readonly name: string = 'ApiKeyBannedError';
}

/** 403 `client_suspended`. The key is valid, but an operator has suspended its client. */
export class ClientSuspendedError extends PetstoreError {
  declare readonly code: 'client_suspended';
  override readonly name: string = 'ClientSuspendedError';
}

/** 429 `daily_quota_exceeded`. The client has used all requests that its plan allows in a UTC day. */
export class DailyQuotaExceededError extends PetstoreError {
  declare readonly code: 'daily_quota_exceeded';
  override readonly name: string = 'DailyQuotaExceededError';
}

/** 403 `event_scope_not_held`. These events contain data that is protected by scopes. Without them, a key cannot subscribe an endpoint to the events, change its URL, or read its log. */
export class EventScopeNotHeldError extends PetstoreError {
  declare readonly code: 'event_scope_not_held';
  override readonly name: string = 'EventScopeNotHeldError';
}

/** 401 `expired_api_key`. The key is genuine but has expired. */
export class ExpiredApiKeyError extends PetstoreError {
  declare readonly code: 'expired_api_key';
  override readonly name: string = 'ExpiredApiKeyError';
}

/** 409 `idempotency_in_progress`. The client has sent another request with the same `Idempotency-Key`, which has not finished. */
export class IdempotencyInProgressError extends PetstoreError {
  declare readonly code: 'idempotency_in_progress';
  override readonly name: string = 'IdempotencyInProgressError';
}

/** 422 `idempotency_key_reused`. In the last 24 hours, the client sent the same `Idempotency-Key` with a different method, path or body. */
export class IdempotencyKeyReusedError extends PetstoreError {
  declare readonly code: 'idempotency_key_reused';
  override readonly name: string = 'IdempotencyKeyReusedError';
}

/** 403 `insufficient_scope`. The key is valid, but does not have the scope that the operation requires. The request counts toward the quota. */
export class InsufficientScopeError extends PetstoreError {
  declare readonly code: 'insufficient_scope';
  override readonly name: string = 'InsufficientScopeError';
}

/** 500 `internal_error`. A bug in the service. */
export class InternalError extends PetstoreError {
  declare readonly code: 'internal_error';
  override readonly name: string = 'InternalError';
}

/** 401 `invalid_api_key`. The credential is not a key of this service. It may be mistyped, truncated, for another environment, or not a bearer token. */
export class InvalidApiKeyError extends PetstoreError {
  declare readonly code: 'invalid_api_key';
  override readonly name: string = 'InvalidApiKeyError';
}

/** 409 `key_already_expired`. An expired key cannot be rotated or given another expiry. */
export class KeyAlreadyExpiredError extends PetstoreError {
  declare readonly code: 'key_already_expired';
  override readonly name: string = 'KeyAlreadyExpiredError';
}

/** 409 `key_already_revoked`. A revoked key cannot be changed. */
export class KeyAlreadyRevokedError extends PetstoreError {
  declare readonly code: 'key_already_revoked';
  override readonly name: string = 'KeyAlreadyRevokedError';
}

/** 409 `key_already_rotated`. A key can be rotated only once. */
export class KeyAlreadyRotatedError extends PetstoreError {
  declare readonly code: 'key_already_rotated';
  override readonly name: string = 'KeyAlreadyRotatedError';
}

/** 409 `key_change_limit_reached`. Each change adds an audit entry. The limit prevents a leaked key from filling the database. */
export class KeyChangeLimitReachedError extends PetstoreError {
  declare readonly code: 'key_change_limit_reached';
  override readonly name: string = 'KeyChangeLimitReachedError';
}

/** 409 `key_limit_reached`. A client can issue keys while it has fewer than `ACCOUNT_MAX_KEYS` working keys, and rotate keys while it has fewer than twice that number. These limits prevent a leaked key from filling the database. */
export class KeyLimitReachedError extends PetstoreError {
  declare readonly code: 'key_limit_reached';
  override readonly name: string = 'KeyLimitReachedError';
}

/** 404 `key_not_found`. No key has this id. Its client may have been deleted, or, under `/account`, it may belong to another client. */
export class KeyNotFoundError extends PetstoreError {
  declare readonly code: 'key_not_found';
  override readonly name: string = 'KeyNotFoundError';
}

/** 403 `key_protected`. Self-service does not issue, change, rotate or revoke keys with a protected scope such as `admin`. */
export class KeyProtectedError extends PetstoreError {
  declare readonly code: 'key_protected';
  override readonly name: string = 'KeyProtectedError';
}

/** 400 `malformed_json`. A required body is empty or missing, or the body is not JSON (RFC 8259), is not UTF-8, has a duplicate member or a member named `__proto__`, is nested more than 64 levels deep, or contains a number of more than 1,000 characters. */
export class MalformedJsonError extends PetstoreError {
  declare readonly code: 'malformed_json';
  override readonly name: string = 'MalformedJsonError';
}

/** 400 `malformed_request`. The bytes received are not an HTTP/1.1 request; `Host` is missing or invalid; `Host`, `Authorization` or `Content-Type` is repeated; the target is not a path or cannot be decoded; the transfer coding is unknown; the body does not match its `Content-Encoding`; or a form (`multipart/form-data`) is malformed, has no valid boundary, or contains a part that the service cannot process. */
export class MalformedRequestError extends PetstoreError {
  declare readonly code: 'malformed_request';
  override readonly name: string = 'MalformedRequestError';
}

/** 401 `missing_api_key`. The request contains no bearer credential. */
export class MissingApiKeyError extends PetstoreError {
  declare readonly code: 'missing_api_key';
  override readonly name: string = 'MissingApiKeyError';
}

/** 409 `new_key_limit_reached`. A client can create up to `ACCOUNT_MAX_KEYS` keys in 24 hours by issuing and rotating keys, including keys that were revoked since then. */
export class NewKeyLimitReachedError extends PetstoreError {
  declare readonly code: 'new_key_limit_reached';
  override readonly name: string = 'NewKeyLimitReachedError';
}

/** 403 `no_account`. Only API keys belong to a client, and thus to an account. */
export class NoAccountError extends PetstoreError {
  declare readonly code: 'no_account';
  override readonly name: string = 'NoAccountError';
}

/** 406 `not_acceptable`. The `Accept` header does not include the media type of the response, or gives it a weight of 0. Parameters such as `charset` are ignored. */
export class NotAcceptableError extends PetstoreError {
  declare readonly code: 'not_acceptable';
  override readonly name: string = 'NotAcceptableError';
}

/** 410 `operation_removed`. The operation was deprecated, and its removal date has passed. */
export class OperationRemovedError extends PetstoreError {
  declare readonly code: 'operation_removed';
  override readonly name: string = 'OperationRemovedError';
}

/** 413 `payload_too_large`. The decoded body exceeds `BODY_LIMIT_BYTES` or the limit of the operation, or an uploaded file exceeds its limit. */
export class PayloadTooLargeError extends PetstoreError {
  declare readonly code: 'payload_too_large';
  override readonly name: string = 'PayloadTooLargeError';
}

/** 404 `pet_not_found`. No animal has this id. */
export class PetNotFoundError extends PetstoreError {
  declare readonly code: 'pet_not_found';
  override readonly name: string = 'PetNotFoundError';
}

/** 429 `rate_limit_exceeded`. The client, or an address without a valid key, has used all requests of the current window. Operations without a quota have a separate limit, which the message names. */
export class RateLimitExceededError extends PetstoreError {
  declare readonly code: 'rate_limit_exceeded';
  override readonly name: string = 'RateLimitExceededError';
}

/** 401 `revoked_api_key`. The key is genuine but was revoked. */
export class RevokedApiKeyError extends PetstoreError {
  declare readonly code: 'revoked_api_key';
  override readonly name: string = 'RevokedApiKeyError';
}

/** 403 `scope_not_held`. The calling key lacks one of the requested scopes, or, if the request names no scopes, all default scopes. */
export class ScopeNotHeldError extends PetstoreError {
  declare readonly code: 'scope_not_held';
  override readonly name: string = 'ScopeNotHeldError';
}

/** 403 `scope_protected`. The request under `/account` names a protected scope such as `admin`. */
export class ScopeProtectedError extends PetstoreError {
  declare readonly code: 'scope_protected';
  override readonly name: string = 'ScopeProtectedError';
}

/** 503 `service_unavailable`. The service is overloaded or shutting down, or the database is busy, full or unavailable. */
export class ServiceUnavailableError extends PetstoreError {
  declare readonly code: 'service_unavailable';
  override readonly name: string = 'ServiceUnavailableError';
}

/** 415 `unsupported_media_type`. `Content-Type` is missing or malformed, names a type that the operation does not accept, or a charset other than UTF-8; or `Content-Encoding` is not supported. Parameters other than `charset` are ignored. */
export class UnsupportedMediaTypeError extends PetstoreError {
  declare readonly code: 'unsupported_media_type';
  override readonly name: string = 'UnsupportedMediaTypeError';
}

/** 400 `validation_failed`. A field or parameter is missing or has an invalid value, the body contains an unknown field, the operation takes no body, or a query parameter is written in another case or with brackets. Other unknown query parameters are ignored. */
export class ValidationFailedError extends PetstoreError {
  declare readonly code: 'validation_failed';
  override readonly name: string = 'ValidationFailedError';
}

/** 404 `webhook_delivery_not_found`. The endpoint has no such delivery, or it is older than `WEBHOOK_RETENTION_DAYS`. */
export class WebhookDeliveryNotFoundError extends PetstoreError {
  declare readonly code: 'webhook_delivery_not_found';
  override readonly name: string = 'WebhookDeliveryNotFoundError';
}

/** 409 `webhook_delivery_not_waiting`. Only a waiting message can be retried. This message was delivered or dropped. */
export class WebhookDeliveryNotWaitingError extends PetstoreError {
  declare readonly code: 'webhook_delivery_not_waiting';
  override readonly name: string = 'WebhookDeliveryNotWaitingError';
}

/** 409 `webhook_endpoint_disabled`. The endpoint was disabled by its owner or by an operator, failed for three days, or responded with 410. */
export class WebhookEndpointDisabledError extends PetstoreError {
  declare readonly code: 'webhook_endpoint_disabled';
  override readonly name: string = 'WebhookEndpointDisabledError';
}

/** 409 `webhook_endpoint_limit_reached`. Every subscribed endpoint receives every event, so their number is limited. */
export class WebhookEndpointLimitReachedError extends PetstoreError {
  declare readonly code: 'webhook_endpoint_limit_reached';
  override readonly name: string = 'WebhookEndpointLimitReachedError';
}

/** 409 `webhook_endpoint_locked`. An operator has disabled the endpoint. Its owner cannot create another endpoint with the same URL either. */
export class WebhookEndpointLockedError extends PetstoreError {
  declare readonly code: 'webhook_endpoint_locked';
  override readonly name: string = 'WebhookEndpointLockedError';
}

/** 404 `webhook_endpoint_not_found`. No endpoint has this id. It or its client may have been deleted, or, under `/account`, it may belong to another client. */
export class WebhookEndpointNotFoundError extends PetstoreError {
  declare readonly code: 'webhook_endpoint_not_found';
  override readonly name: string = 'WebhookEndpointNotFoundError';
}

/** 409 `webhook_secret_limit_reached`. The secret was rotated too often before the grace periods of earlier rotations were over. */
export class WebhookSecretLimitReachedError extends PetstoreError {
  declare readonly code: 'webhook_secret_limit_reached';
  override readonly name: string = 'WebhookSecretLimitReachedError';
}

/** The class of every code. */
export const ERROR_CLASSES: Readonly<Record<string, RefusalClass>> = {
  api_key_banned: ApiKeyBannedError,
  client_suspended: ClientSuspendedError,
  daily_quota_exceeded: DailyQuotaExceededError,
  event_scope_not_held: EventScopeNotHeldError,
  expired_api_key: ExpiredApiKeyError,
  idempotency_in_progress: IdempotencyInProgressError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  insufficient_scope: InsufficientScopeError,
  internal_error: InternalError,
  invalid_api_key: InvalidApiKeyError,
  key_already_expired: KeyAlreadyExpiredError,
  key_already_revoked: KeyAlreadyRevokedError,
  key_already_rotated: KeyAlreadyRotatedError,
  key_change_limit_reached: KeyChangeLimitReachedError,
  key_limit_reached: KeyLimitReachedError,
  key_not_found: KeyNotFoundError,
  key_protected: KeyProtectedError,
  malformed_json: MalformedJsonError,
  malformed_request: MalformedRequestError,
  missing_api_key: MissingApiKeyError,
  new_key_limit_reached: NewKeyLimitReachedError,
  no_account: NoAccountError,
  not_acceptable: NotAcceptableError,
  operation_removed: OperationRemovedError,
  payload_too_large: PayloadTooLargeError,
  pet_not_found: PetNotFoundError,
  rate_limit_exceeded: RateLimitExceededError,
  revoked_api_key: RevokedApiKeyError,
  scope_not_held: ScopeNotHeldError,
  scope_protected: ScopeProtectedError,
  service_unavailable: ServiceUnavailableError,
  unsupported_media_type: UnsupportedMediaTypeError,
  validation_failed: ValidationFailedError,
  webhook_delivery_not_found: WebhookDeliveryNotFoundError,
  webhook_delivery_not_waiting: WebhookDeliveryNotWaitingError,
  webhook_endpoint_disabled: WebhookEndpointDisabledError,
  webhook_endpoint_limit_reached: WebhookEndpointLimitReachedError,
  webhook_endpoint_locked: WebhookEndpointLockedError,
  webhook_endpoint_not_found: WebhookEndpointNotFoundError,
  webhook_secret_limit_reached: WebhookSecretLimitReachedError,
};
