export { PetstoreClient } from './client.js';
export * from './errors.js';
export * from './generated/errors.js';
export type { Int64Form, Int64Input, Int64Of } from './json.js';
export type { ClientOptions, RetryOptions } from './options.js';
export type { Quota } from './responses.js';
export type * from './types.js';
export { verifyWebhook, type WebhookMessage } from './webhook.js';
