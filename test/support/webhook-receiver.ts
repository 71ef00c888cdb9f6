import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { EntityManager } from 'typeorm';
import { WebhookEndpoint, WebhookSubscription } from '../../src/webhooks/webhook-endpoint.entity.js';
import { newWebhookSecret } from '../../src/webhooks/webhook-signature.js';

/** A request that a receiver has received. */
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

/** How a receiver responds. It sends 204 unless the function sends a response. */
export type Responder = (response: ServerResponse, received: Received) => unknown;

/** Where a receiver listens: by default on a free port of 127.0.0.1, and with TLS if it has a certificate. */
export interface Listening {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: ServerOptions;
}

/** A real HTTP server that receives webhooks. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Changes how the receiver responds from now on. */
  respond: Responder = (response) => response.writeHead(204).end();
  /** The number of connections that were opened. */
  connections = 0;
  private readonly server;

  private constructor(tls?: ServerOptions) {
    const take = (request: IncomingMessage, response: ServerResponse): void =>
      void this.take(request, response);
    this.server = tls ? createTlsServer(tls, take) : createServer(take);
    this.server.on('connection', () => (this.connections += 1));
  }

  /** Starts a receiver. */
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

  /** The origin, such as http://127.0.0.1:40123, without TLS. */
  get url(): string {
    const { address } = this.server.address() as AddressInfo;
    return `http://${address}:${this.port}`;
  }

  /** The port on which the receiver listens. */
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The ids of the received messages, in order. */
  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  /** The names of the animals in the received messages, in order. */
  get names(): unknown[] {
    return this.received.map(({ body }) => body.data.name);
  }

  /** Stops the receiver and closes its connections. */
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

/** Adds an endpoint directly to the database. */
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
    // Earlier than any event in a test, whether it uses the test's clock or the machine's.
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
