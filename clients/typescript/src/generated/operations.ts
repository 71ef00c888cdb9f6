// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.
import type { Operation } from '../operation.js';
import type { Shape } from '../json/shape.js';

/** Where each schema holds integers of 64 bits; those that hold none are left out. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  "NewPet": {
    "fields": {
      "categoryId": "int64"
    }
  },
  "Pet": {
    "fields": {
      "id": "int64",
      "categoryId": "int64"
    }
  },
  "Pets": {
    "items": {
      "schema": "Pet"
    }
  },
  "WebhookDeliveries": {
    "items": {
      "schema": "WebhookDelivery"
    }
  },
  "WebhookDelivery": {
    "fields": {
      "id": "int64"
    }
  },
  "WebhookDeliveryWithPayload": {
    "fields": {
      "id": "int64"
    }
  }
};

/** Every operation by its operationId. */
export const OPERATIONS = {
  "listPets": {
    "method": "GET",
    "path": "/v1/pets",
    "isIdempotent": false,
    "heldBackBy": [
      "quota",
      "ban"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "Pets"
    }
  },
  "createPet": {
    "method": "POST",
    "path": "/v1/pets",
    "isIdempotent": true,
    "heldBackBy": [
      "quota",
      "ban"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": {
      "schema": "NewPet"
    },
    "hasAnswer": true,
    "answer": {
      "schema": "Pet"
    }
  },
  "getPet": {
    "method": "GET",
    "path": "/v1/pets/{petId}",
    "isIdempotent": false,
    "heldBackBy": [
      "quota",
      "ban"
    ],
    "int64Parameters": [
      "petId"
    ],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "Pet"
    }
  },
  "getAccount": {
    "method": "GET",
    "path": "/account",
    "isIdempotent": false,
    "heldBackBy": [
      "60 per client"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "getAccountUsage": {
    "method": "GET",
    "path": "/account/usage",
    "isIdempotent": false,
    "heldBackBy": [
      "60 per client"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "listOwnKeys": {
    "method": "GET",
    "path": "/account/keys",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "issueOwnKey": {
    "method": "POST",
    "path": "/account/keys",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key",
      "ban"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "getOwnKey": {
    "method": "GET",
    "path": "/account/keys/{keyId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "updateOwnKey": {
    "method": "PATCH",
    "path": "/account/keys/{keyId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "rotateOwnKey": {
    "method": "POST",
    "path": "/account/keys/{keyId}/rotate",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key",
      "ban"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "revokeOwnKey": {
    "method": "POST",
    "path": "/account/keys/{keyId}/revoke",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "listOwnWebhooks": {
    "method": "GET",
    "path": "/account/webhooks",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "createOwnWebhook": {
    "method": "POST",
    "path": "/account/webhooks",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "getOwnWebhook": {
    "method": "GET",
    "path": "/account/webhooks/{endpointId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "updateOwnWebhook": {
    "method": "PATCH",
    "path": "/account/webhooks/{endpointId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "deleteOwnWebhook": {
    "method": "DELETE",
    "path": "/account/webhooks/{endpointId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "rotateOwnWebhookSecret": {
    "method": "POST",
    "path": "/account/webhooks/{endpointId}/rotate-secret",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  },
  "listOwnWebhookDeliveries": {
    "method": "GET",
    "path": "/account/webhooks/{endpointId}/deliveries",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "WebhookDeliveries"
    }
  },
  "getOwnWebhookDelivery": {
    "method": "GET",
    "path": "/account/webhooks/{endpointId}/deliveries/{deliveryId}",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [
      "deliveryId"
    ],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "WebhookDeliveryWithPayload"
    }
  },
  "redeliverOwnWebhook": {
    "method": "POST",
    "path": "/account/webhooks/{endpointId}/deliveries/{deliveryId}/redeliver",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [
      "deliveryId"
    ],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "WebhookDelivery"
    }
  },
  "testOwnWebhook": {
    "method": "POST",
    "path": "/account/webhooks/{endpointId}/test",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": {
      "schema": "WebhookDelivery"
    }
  },
  "listOwnWebhookEvents": {
    "method": "GET",
    "path": "/account/webhook-events",
    "isIdempotent": false,
    "heldBackBy": [
      "30 per key"
    ],
    "int64Parameters": [],
    "commaParameters": [],
    "headerParameters": [],
    "body": null,
    "hasAnswer": true,
    "answer": null
  }
} as const satisfies Readonly<Record<string, Operation>>;
