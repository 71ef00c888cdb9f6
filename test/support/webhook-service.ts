import type { Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { expect, onTestFinished } from 'vitest';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { WebhookFanOuts } from '../../src/webhooks/webhook-fan-outs.js';
import { WebhookMessages } from '../../src/webhooks/webhook-messages.js';
import { type Responder, type Listening, WebhookReceiver, addEndpoint } from './webhook-receiver.js';

/** The same as `opened`, closed when the test ends. */
export async function open(options: TestServiceOptions = {}) {
  const made = await opened(options);
  onTestFinished(() => made.service.close());
  return made;
}

/** A service that may send webhooks to receivers on this machine, and helpers for its tests. Close it when done. */
export async function opened(options: TestServiceOptions = {}) {
  const service = await TestService.open({
    at: '2026-11-20T12:00:00.000Z',
    ...options,
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', ...options.environment },
  });
  const { app, clientId } = service;
  const { manager } = app.get(DataSource);
  const dispatcher = app.get(WebhookDispatcher);
  return {
    service,
    manager,
    clock: service.clock,
    messages: app.get(WebhookMessages),
    deliver: () => dispatcher.deliver(),
    /** Deletes all endpoints, messages and animals, and advances the clock by an hour. */
    clear: async () => {
      for (const table of ['webhook_endpoints', 'webhook_messages', 'webhook_fan_outs', 'pets'])
        await manager.query(`DELETE FROM ${table}`);
      service.clock.advance(3_600_000);
    },
    endpointAt: (url: string, values: Partial<WebhookEndpoint> = {}, events?: readonly string[]) =>
      addEndpoint(manager, { clientId, url, ...values }, events),
    post: async (name: string, headers: Record<string, string> = {}) => {
      const created = await service.request('POST', '/v1/pets', { json: { name, categoryId: 1 }, headers });
      expect(created.status).toBe(201);
      return created;
    },
    endpoint: (id: string) => manager.findOneByOrFail(WebhookEndpoint, { id }),
    /** The deliveries, including those of messages that have not been fanned out yet. */
    deliveries: async () => {
      await app.get(WebhookFanOuts).catchUp();
      return manager.find(WebhookDelivery, { order: { id: 'ASC' } });
    },
  };
}

/** A receiver that is stopped when the test ends. */
export async function receive(respond?: Responder, listening?: Listening): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.start(respond, listening);
  onTestFinished(() => receiver.stop());
  return receiver;
}

/** Sends `prefix`, and then the text repeatedly, `times` copies per write, as fast as the client reads. */
export const flood =
  (text: string, times: number, prefix = '') =>
  ({ socket }: { readonly socket: Socket | null }): void => {
    const chunk = text.repeat(times);
    const write = (): void => {
      if (socket?.destroyed !== false) return;
      if (socket.write(chunk)) setImmediate(write);
      else socket.once('drain', write);
    };
    socket?.on('error', () => undefined).write(prefix);
    write();
  };

/** Responds with a status and headers. */
export const respondWith =
  (code: number, headers: Record<string, string> = {}): Responder =>
  (response) =>
    response.writeHead(code, headers).end();
