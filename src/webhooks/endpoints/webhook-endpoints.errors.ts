import { defineErrors } from '../../core/errors/define-errors.js';

/** Ids and an instant as answers have them, for examples. */
const ENDPOINT = '3d0a6b0e-61c7-4bb0-9d3c-5f5b0c8f1a42';
const INSTANT = '2026-11-20T12:00:00.000Z';

/** Errors of the administration of webhook endpoints, the same for operators and for clients. */
export const WEBHOOK_ERRORS = defineErrors({
  webhook_endpoint_not_found: {
    status: 404,
    message: 'There is no webhook endpoint {id}.',
    example: { id: ENDPOINT },
    cause:
      'No endpoint has this id; it or its client may have been deleted. Under `/account` endpoints of other clients are not found either.',
    remedy: 'List the endpoints: `GET /admin/webhooks`, or `GET /account/webhooks` for your own.',
  },
  webhook_delivery_not_found: {
    status: 404,
    message: 'The webhook endpoint {endpoint} has no delivery {id}.',
    example: { endpoint: ENDPOINT, id: 7 },
    cause:
      'The endpoint was never sent this, or it is longer ago than deliveries are kept (`WEBHOOK_RETENTION_DAYS`).',
    remedy: 'List the deliveries of the endpoint: `GET …/webhooks/{endpointId}/deliveries`.',
  },
  webhook_endpoint_limit_reached: {
    status: 409,
    message: 'The client has {limit} webhook endpoints; there can be no more.',
    example: { limit: 20 },
    cause: 'Every endpoint is sent a message of its own of whatever happens, so their number is bounded.',
    remedy: 'Delete an endpoint that nobody uses, or have one endpoint told of more events.',
  },
  webhook_secret_limit_reached: {
    status: 409,
    message:
      'Besides its secret, {limit} earlier ones of the webhook endpoint {id} still sign; there can be no more.',
    example: { limit: 4, id: ENDPOINT },
    cause:
      'The secret was rotated again and again within the grace of the rotations before, and each old secret still signs.',
    remedy:
      'Wait until the grace of one is over, or rotate with a `grace` of `0`, which ends all old secrets at once.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    message: 'The webhook endpoint {id} is disabled since {instant}; it is sent nothing.',
    example: { id: ENDPOINT, instant: INSTANT },
    cause:
      'The endpoint was disabled by its owner or by an operator, has failed for three days, or has answered 410.',
    remedy: 'Enable it first: `PATCH …/webhooks/{endpointId}` with `{"enabled": true}`.',
  },
  webhook_endpoint_locked: {
    status: 409,
    message: 'The webhook endpoint {id} was disabled by an operator, and only an operator enables it again.',
    example: { id: ENDPOINT },
    cause: 'An operator has disabled the endpoint under `/admin`.',
    remedy: 'Ask the operator of the service.',
  },
  event_scope_not_held: {
    status: 403,
    message: 'The key lacks what these events are told for: {scopes}.',
    example: { scopes: 'pets:read' },
    cause:
      'An event tells what a scope allows to read. The key would have an endpoint told of it, or send it to another address, or ' +
      'read what was sent, without holding that scope.',
    remedy: 'Name fewer `events`, or use a key that holds the scope.',
  },
});
