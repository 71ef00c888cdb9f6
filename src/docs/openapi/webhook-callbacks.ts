import type { Type } from '@nestjs/common';
import { getSchemaPath } from '@nestjs/swagger';
import { declaredWebhookEvents } from '../../webhooks/webhook-events.js';
import type { OperationObject } from './document-outlines.js';

/** Headers of a message (Standard Webhooks 1.0). */
const HEADERS = {
  'webhook-id': 'Id of the message, which is the same for each attempt',
  'webhook-timestamp': 'Time of this attempt, in Unix seconds',
  'webhook-signature':
    'One signature for each active secret, separated by spaces: `v1,` and the Base64-encoded HMAC-SHA256 of ' +
    '`<webhook-id>.<webhook-timestamp>.<body>`. The key is the Base64-decoded secret after `whsec_`',
};

/** The operations that create webhook endpoints. */
const ENDPOINTS = new Set(['/account/webhooks', '/admin/webhooks']);

/** Whether the operations below a prefix include one that creates webhook endpoints. */
export function hasWebhooks(prefix: string): boolean {
  return createsEndpoints(`${prefix}/webhooks`);
}

/** Whether a path creates webhook endpoints. */
export function createsEndpoints(path: string): boolean {
  return ENDPOINTS.has(path);
}

/** The classes of the webhook events' data. */
export function webhookModels(): Type[] {
  return declaredWebhookEvents().flatMap(({ data }) => data ?? []);
}

/**
 * The messages to an endpoint, as callbacks of the operation that creates it: OpenAPI 3.0, which all generators support, has no `webhooks`.
 */
export function webhookCallbacks(): NonNullable<OperationObject['callbacks']> {
  const string = { type: 'string' } as const;
  const parameters = Object.entries(HEADERS).map(
    ([name, description]) => ({ name, in: 'header', required: true, description, schema: string }) as const,
  );
  const responses = {
    '2XX': { description: 'The message was delivered' },
    '410': { description: 'The service disables the endpoint' },
    default: { description: 'The service retries the message' },
  };
  const callbacks = declaredWebhookEvents().map(({ name, description, data }) => {
    const properties = {
      type: { ...string, enum: [name] },
      timestamp: { ...string, format: 'date-time' },
      data: data ? { $ref: getSchemaPath(data) } : { type: 'object' },
    };
    const schema = { type: 'object', required: Object.keys(properties), properties };
    const requestBody = { required: true, content: { 'application/json': { schema } } };
    const operation = { summary: name, description, security: [], parameters, requestBody, responses };
    return [name, { '{$request.body#/url}': { post: operation } }];
  });
  return Object.fromEntries(callbacks) as NonNullable<OperationObject['callbacks']>;
}
