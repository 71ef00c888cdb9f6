import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { EntityManager } from 'typeorm';
import { WebhookEndpoint, WebhookSubscription } from '../../src/webhooks/webhook-endpoint.entity.js';
import { newWebhookSecret } from '../../src/webhooks/webhook-signature.js';

/** One request that a receiver was sent. */
export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

/** How a receiver answers; 204 unless it answers itself. */
export type Responder = (response: ServerResponse, received: Received) => unknown;

/** Where a receiver listens: on a free port of 127.0.0.1 unless it says so, and with TLS if it has a certificate. */
export interface Listening {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: ServerOptions;
}

/** A real HTTP server that takes webhooks. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Changes how it answers from now on. */
  respond: Responder = (response) => response.writeHead(204).end();
  /** How many connections were opened to it. */
  connections = 0;
  private readonly server;

  private constructor(tls?: ServerOptions) {
    const take = (request: IncomingMessage, response: ServerResponse): void =>
      void this.take(request, response);
    this.server = tls ? createTlsServer(tls, take) : createServer(take);
    this.server.on('connection', () => (this.connections += 1));
  }

  /** Starts one. */
  static async start(
    respond?: Responder,
    { host = '127.0.0.1', port = 0, tls }: Listening = {},
  ): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(tls);
    if (respond) receiver.respond = respond;
    receiver.server.listen(port, host);
    await once(receiver.server, 'listening');
    return receiver;
  }

  /** Origin such as http://127.0.0.1:40123, without TLS. */
  get url(): string {
    const { address } = this.server.address() as AddressInfo;
    return `http://${address}:${this.port}`;
  }

  /** The port that it listens on. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The ids of the messages that it was sent, in order. */
  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  /** The names of the animals in the received messages, in order. */
  get names(): unknown[] {
    return this.received.map(({ body }) => body.data.name);
  }

  /** Stops it; what is connected is cut. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { headers, url: path = '' } = request;
    const body = JSON.parse(text) as Received['body'];
    const received = { id: String(headers['webhook-id']), path, headers, text, body };
    this.received.push(received);
    await this.respond(response, received);
  }
}

/** Adds an endpoint without using the API. */
export async function addEndpoint(
  manager: EntityManager,
  values: Pick<WebhookEndpoint, 'clientId' | 'url'> & Partial<WebhookEndpoint>,
  events: readonly string[] = ['pets.created'],
): Promise<WebhookEndpoint> {
  const endpoint = manager.create(WebhookEndpoint, {
    id: randomUUID(),
    label: null,
    secret: newWebhookSecret(),
    previousSecrets: [],
    // Before any event that a test writes, by its clock or the machine's.
    createdAt: '2020-01-01T00:00:00.000Z',
    disabledAt: null,
    disabledBecause: null,
    failures: 0,
    failingSince: null,
    dueAt: 0n,
    delay: 0,
    ...values,
  });
  await manager.insert(WebhookEndpoint, endpoint);
  for (const event of events) await manager.insert(WebhookSubscription, { endpointId: endpoint.id, event });
  return endpoint;
}
