// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
import type { Operation, Shape } from '../operation.js';

/** The members of each schema that contain 64-bit integers. Schemas without them are omitted. */
export const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  NewPet: [{"categoryId":["int64"]}],
  Pet: [{"id":["int64"],"categoryId":["int64"]}],
  Pets: [{"*":["Pet"]}],
  WebhookDeliveries: [{"*":["WebhookDelivery"]}],
  WebhookDelivery: [{"id":["int64"]}],
  WebhookDeliveryWithPayload: [{"id":["int64"]}],
};

/** Every operation by its operationId. */
export const OPERATIONS = {
  listPets: {"method":"GET","path":"/v1/pets","limits":["quota","ban"],"response":["Pets"]},
  createPet: {"method":"POST","path":"/v1/pets","limits":["quota","ban"],"isIdempotent":true,"body":["NewPet"],"response":["Pet"]},
  getPet: {"method":"GET","path":"/v1/pets/{petId}","limits":["quota","ban"],"parameters":[{"petId":["int64"]}],"response":["Pet"]},
  getAccount: {"method":"GET","path":"/account","limits":["account"],"response":[]},
  getAccountUsage: {"method":"GET","path":"/account/usage","limits":["account"],"response":[]},
  listOwnRefusedRequests: {"method":"GET","path":"/account/requests","limits":["account"],"response":[]},
  listOwnKeys: {"method":"GET","path":"/account/keys","limits":["account-keys"],"response":[]},
  issueOwnKey: {"method":"POST","path":"/account/keys","limits":["account-key-changes","ban"],"body":[],"response":[]},
  getOwnKey: {"method":"GET","path":"/account/keys/{keyId}","limits":["account-keys"],"response":[]},
  updateOwnKey: {"method":"PATCH","path":"/account/keys/{keyId}","limits":["account-key-changes"],"body":[],"response":[]},
  rotateOwnKey: {"method":"POST","path":"/account/keys/{keyId}/rotate","limits":["account-key-changes","ban"],"body":[],"response":[]},
  revokeOwnKey: {"method":"POST","path":"/account/keys/{keyId}/revoke","limits":["account-key-changes"],"response":[]},
  listOwnWebhooks: {"method":"GET","path":"/account/webhooks","limits":["account-webhooks"],"response":[]},
  createOwnWebhook: {"method":"POST","path":"/account/webhooks","limits":["account-webhook-changes"],"body":[],"response":[]},
  getOwnWebhook: {"method":"GET","path":"/account/webhooks/{endpointId}","limits":["account-webhooks"],"response":[]},
  updateOwnWebhook: {"method":"PATCH","path":"/account/webhooks/{endpointId}","limits":["account-webhook-changes"],"body":[],"response":[]},
  deleteOwnWebhook: {"method":"DELETE","path":"/account/webhooks/{endpointId}","limits":["account-webhook-changes"],"response":[]},
  rotateOwnWebhookSecret: {"method":"POST","path":"/account/webhooks/{endpointId}/rotate-secret","limits":["account-webhook-changes"],"body":[],"response":[]},
  listOwnWebhookDeliveries: {"method":"GET","path":"/account/webhooks/{endpointId}/deliveries","limits":["account-webhooks"],"response":["WebhookDeliveries"]},
  getOwnWebhookDelivery: {"method":"GET","path":"/account/webhooks/{endpointId}/deliveries/{deliveryId}","limits":["account-webhooks"],"parameters":[{"endpointId":[],"deliveryId":["int64"]}],"response":["WebhookDeliveryWithPayload"]},
  redeliverOwnWebhook: {"method":"POST","path":"/account/webhooks/{endpointId}/deliveries/{deliveryId}/redeliver","limits":["account-webhooks"],"parameters":[{"endpointId":[],"deliveryId":["int64"]}],"response":["WebhookDelivery"]},
  testOwnWebhook: {"method":"POST","path":"/account/webhooks/{endpointId}/test","limits":["account-webhooks"],"response":["WebhookDelivery"]},
  retryOwnWebhook: {"method":"POST","path":"/account/webhooks/{endpointId}/retry","limits":["account-webhooks"],"response":[]},
  retryOwnWebhookDelivery: {"method":"POST","path":"/account/webhooks/{endpointId}/deliveries/{deliveryId}/retry","limits":["account-webhooks"],"parameters":[{"endpointId":[],"deliveryId":["int64"]}],"response":["WebhookDelivery"]},
  listOwnWebhookEvents: {"method":"GET","path":"/account/webhook-events","limits":["account-webhooks"],"response":[]},
} as const satisfies Readonly<Record<string, Operation>>;
