import { defineErrors } from '../../core/errors/define-errors.js';

/** Ids and an instant for examples. */
const ENDPOINT = '3d0a6b0e-61c7-4bb0-9d3c-5f5b0c8f1a42';
const CLIENT = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
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
    command: 'List the endpoints: `petstore webhook list`.',
  },
  webhook_delivery_not_found: {
    status: 404,
    message: 'The webhook endpoint {endpoint} has no delivery {id}.',
    example: { endpoint: ENDPOINT, id: 7 },
    cause: 'The endpoint has no such delivery, or it is older than `WEBHOOK_RETENTION_DAYS`.',
    remedy: 'List the deliveries of the endpoint: `GET …/webhooks/{endpointId}/deliveries`.',
    command: 'List the deliveries of the endpoint: `petstore webhook deliveries`.',
  },
  webhook_endpoint_limit_reached: {
    status: 409,
    message: 'The client already has {limit} webhook endpoints, the maximum.',
    example: { limit: 20 },
    cause: 'Every event is sent to every endpoint, so their number is limited.',
    remedy: 'Delete an endpoint that nobody uses, or subscribe one endpoint to more events.',
  },
  webhook_secret_limit_reached: {
    status: 409,
    message:
      'Messages to the webhook endpoint {id} are already signed with {limit} old secrets, the maximum.',
    example: { limit: 4, id: ENDPOINT },
    cause: 'The secret was rotated again too often before the grace of earlier rotations was over.',
    remedy:
      'Wait until the grace of one is over, or rotate with a `grace` of `0`, which ends all old secrets at once.',
    command:
      'Wait until the grace of one is over, or rotate with `--grace 0`, which ends all old secrets at once.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    message: 'The webhook endpoint {id} has been disabled since {instant}; it receives no messages.',
    example: { id: ENDPOINT, instant: INSTANT },
    cause:
      'The endpoint was disabled by its owner or by an operator, failed for three days, or responded 410.',
    remedy: 'Enable it first: `PATCH …/webhooks/{endpointId}` with `{"enabled": true}`.',
    command: 'Enable it first: `petstore webhook enable`.',
  },
  webhook_client_suspended: {
    status: 409,
    message:
      'The client {client} of the webhook endpoint {id} has been suspended since {instant}; nothing is sent to it.',
    example: { client: CLIENT, id: ENDPOINT, instant: INSTANT },
    cause: 'An operator has suspended the client. Its endpoints receive nothing until it is resumed.',
    remedy: 'Resume the client: `POST /admin/clients/{clientId}/resume`. What waits is then sent.',
    command: 'Resume the client: `petstore client resume`. What waits is then sent.',
  },
  webhook_delivery_not_waiting: {
    status: 409,
    message: 'The delivery {id} does not wait: it is {state}.',
    example: { id: 7, state: 'delivered' },
    cause: 'Only a waiting message can be retried. This one was delivered, or given up.',
    remedy: 'Send the message again: `POST …/deliveries/{deliveryId}/redeliver`.',
    command: 'Send the message again: `petstore webhook redeliver`.',
  },
  webhook_endpoint_locked: {
    status: 409,
    message:
      'The webhook endpoint {id} was disabled by an operator, and only an operator can enable, move or delete it.',
    example: { id: ENDPOINT },
    cause:
      'An operator has disabled the endpoint under `/admin`. Its owner can use its URL for no other endpoint either.',
    remedy: 'Ask the operator of the service.',
  },
  event_scope_not_held: {
    status: 403,
    message: 'The key lacks the scopes of these events: {scopes}.',
    example: { scopes: 'account' },
    cause:
      'An event contains data that a scope protects. The key would subscribe an endpoint to it, redirect it, or read its log without having that scope.',
    remedy: 'Name fewer `events`, or use a key that has the scope.',
    command: 'Name fewer `--events`, or use a key that has the scope.',
  },
});
