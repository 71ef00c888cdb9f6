import { defineErrors } from '../../core/errors/define-errors.js';

/** Sample values. */
const ENDPOINT = '3d0a6b0e-61c7-4bb0-9d3c-5f5b0c8f1a42';
const CLIENT = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const INSTANT = '2026-11-20T12:00:00.000Z';

/** Errors of webhook endpoint administration, for operators and clients. */
export const WEBHOOK_ERRORS = defineErrors({
  webhook_endpoint_not_found: {
    status: 404,
    message: 'There is no webhook endpoint {id}.',
    example: { id: ENDPOINT },
    cause:
      'No endpoint has this id. It or its client may have been deleted, or, under `/account`, it may belong to another client.',
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
    cause: 'Every subscribed endpoint receives every event, so their number is limited.',
    remedy: 'Delete an unused endpoint, or subscribe an existing endpoint to more events.',
  },
  webhook_secret_limit_reached: {
    status: 409,
    message:
      'Messages to the webhook endpoint {id} are already signed with {limit} old secrets, the maximum.',
    example: { limit: 4, id: ENDPOINT },
    cause: 'The secret was rotated too often before the grace periods of earlier rotations were over.',
    remedy:
      'Wait until one of the grace periods is over, or rotate with a `grace` of `0`, which invalidates all old secrets immediately.',
    command:
      'Wait until one of the grace periods is over, or rotate with `--grace 0`, which invalidates all old secrets immediately.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    message: 'The webhook endpoint {id} has been disabled since {instant}; it receives no messages.',
    example: { id: ENDPOINT, instant: INSTANT },
    cause:
      'The endpoint was disabled by its owner or by an operator, failed for three days, or responded with 410.',
    remedy: 'Enable it first: `PATCH …/webhooks/{endpointId}` with `{"enabled": true}`.',
    command: 'Enable it first: `petstore webhook enable`.',
  },
  webhook_client_suspended: {
    status: 409,
    message:
      'The client {client} of the webhook endpoint {id} has been suspended since {instant}; nothing is sent to it.',
    example: { client: CLIENT, id: ENDPOINT, instant: INSTANT },
    cause: 'An operator has suspended the client. Its endpoints receive nothing until the client is resumed.',
    remedy: 'Resume the client: `POST /admin/clients/{clientId}/resume`. The waiting messages are then sent.',
    command: 'Resume the client: `petstore client resume`. The waiting messages are then sent.',
  },
  webhook_delivery_not_waiting: {
    status: 409,
    message: 'The delivery {id} is not waiting; its state is {state}.',
    example: { id: 7, state: 'delivered' },
    cause: 'Only a waiting message can be retried. This message was delivered or dropped.',
    remedy: 'Send the message again: `POST …/deliveries/{deliveryId}/redeliver`.',
    command: 'Send the message again: `petstore webhook redeliver`.',
  },
  webhook_endpoint_locked: {
    status: 409,
    message:
      'The webhook endpoint {id} was disabled by an operator; only an operator can enable, edit or delete it.',
    example: { id: ENDPOINT },
    cause:
      'An operator has disabled the endpoint. Its owner cannot create another endpoint with the same URL either.',
    remedy: 'Ask the operator of the service.',
  },
  event_scope_not_held: {
    status: 403,
    message: 'The key lacks the scopes of these events: {scopes}.',
    example: { scopes: 'account' },
    cause:
      'These events contain data that is protected by scopes. Without them, a key cannot subscribe an endpoint to the events, change its URL, or read its log.',
    remedy: 'Request fewer `events`, or use a key with these scopes.',
    command: 'Request fewer `--events`, or use a key with these scopes.',
  },
});
