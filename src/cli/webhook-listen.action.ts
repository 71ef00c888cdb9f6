import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { PickType } from '@nestjs/swagger';
import { InvalidArgumentError } from 'commander';
import type { Client } from '../auth/clients/client.entity.js';
import { ClientsService } from '../auth/clients/clients.service.js';
import type { WebhookDeliveryDto } from '../webhooks/endpoints/dto/webhook-delivery.dto.js';
import { MAX_EVENTS, WebhookEndpointChangesDto } from '../webhooks/endpoints/dto/webhook-endpoint.dto.js';
import { MAX_ENDPOINTS, grantableEvents } from '../webhooks/endpoints/endpoint-rules.js';
import { WebhookDeliveriesService } from '../webhooks/endpoints/webhook-deliveries.service.js';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service.js';
import { WebhookAddresses } from '../webhooks/webhook-addresses.js';
import { webhookSignature } from '../webhooks/webhook-signature.js';
import type { Call } from './frame/call.js';
import { Refusal } from '../core/refusal.js';
import { clientOf } from './operations/named.js';
import { localService } from './operations/local-service.js';
import { inputOf } from './frame/service-calls.js';
import { reasonOf } from './frame/failure.js';
import { stoppable } from './frame/progress.js';
import { printable } from './frame/table.js';

const LABEL = 'petstore webhook listen';
/** Time without a message after which a hint is shown, in milliseconds. */
const HINT_DELAY_MS = 10_000;
/** Time limit for the program that messages are forwarded to, in milliseconds: less than the service's own limit for this response. */
const FORWARD_MS = 14_000;
const NEEDS =
  'To send messages to this machine, the service needs the setting WEBHOOK_ALLOWED_NETWORKS=127.0.0.1/32. ' +
  'Set it, for example in .env, and restart the service.';

class EventsOption extends PickType(WebhookEndpointChangesDto, ['events']) {}

/** `petstore webhook listen`: a temporary endpoint, received by this process. */
export async function listen(call: Call): Promise<void> {
  const { forward } = call.options;
  if (forward !== undefined && !(/^https?:/.test(forward) && URL.canParse(forward)))
    throw new InvalidArgumentError('--forward: This must be a URL such as http://localhost:4000/webhooks.');
  const { events } = await inputOf(EventsOption, call.options);
  const app = await call.start();
  const endpoints = app.get(WebhookEndpointsService);
  await stoppable(call.shell.writeError, async ({ signal }) => {
    const client = await listenedClient(app, call);
    const receiver = new Receiver(call, forward);
    const url = await receiver.listen();
    try {
      if (app.get(WebhookAddresses).urlError(url)) throw new Refusal(NEEDS);
      await deleteLeft(endpoints, client, call);
      const all = grantableEvents().map(({ name }) => name);
      const input = { clientId: client.id, url, events: events ?? all.slice(0, MAX_EVENTS), label: LABEL };
      const { id, secret } = await endpoints.create(input, call.by);
      receiver.secret = secret;
      try {
        call.shell.writeError(
          `Messages for ${client.name} are signed with ${secret}. Press Ctrl-C to stop.\n`,
        );
        const deliveries = app.get(WebhookDeliveriesService);
        const test = await deliveries.test(id, call.by);
        await pause(HINT_DELAY_MS, undefined, { signal }).catch(() => undefined);
        if (receiver.received === 0 && !signal.aborted) {
          const why = await deliveries.get(id, test.id, call.by).then(whyLate, reasonOf);
          call.shell.writeError(`The test message has not arrived. ${why}\n`);
        }
        if (!signal.aborted) await once(signal, 'abort');
      } finally {
        await endpoints.delete(id, call.by);
      }
    } finally {
      receiver.end();
    }
  });
  call.shell.writeError('The temporary endpoint was deleted.\n');
}

function whyLate({ error }: WebhookDeliveryDto): string {
  if (error === null) return 'Is the service running, with the same DATABASE_URL?';
  return `The service could not send it: ${error} ${NEEDS}`;
}

/** Deletes endpoints left by processes that were killed. */
async function deleteLeft(
  endpoints: WebhookEndpointsService,
  client: Pick<Client, 'id'>,
  { by }: Call,
): Promise<void> {
  const { items } = await endpoints.list({ limit: MAX_ENDPOINTS }, { client: client.id });
  for (const { id, label, failingSince } of items)
    if (label === LABEL && failingSince !== null) await endpoints.delete(id, by);
}

async function listenedClient(
  app: INestApplication,
  { options, by }: Call,
): Promise<Pick<Client, 'id' | 'name'>> {
  if (options.client !== undefined) return clientOf(localService(app, by), String(options.client));
  const { items, next } = await app.get(ClientsService).list({ limit: 1 });
  const [only] = items;
  if (!only || next)
    throw new Refusal(`There is ${only ? 'more than one' : 'no'} client; choose one with --client.`);
  return only;
}

/** Receives messages on this machine, prints them, and forwards each one before responding with the same status. */
class Receiver {
  secret = '';
  received = 0;
  private readonly server = createServer((request, response) => void this.take(request, response));

  constructor(
    private readonly call: Call,
    private readonly forward: string | undefined,
  ) {}

  /** Listens on a free port and returns its address. */
  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  end(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => '');
    const [id = '', timestamp = '', signature = ''] = ['id', 'timestamp', 'signature'].map((name) =>
      String(request.headers[`webhook-${name}`]),
    );
    // Other programs on this machine can call it as well.
    if (signature !== webhookSignature({ id, timestamp: Number(timestamp), body }, [this.secret])) {
      response.writeHead(400).end();
      return;
    }
    this.received += 1;
    const sent = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
    const headers = { 'content-type': 'application/json', ...sent };
    const { status, error } = await this.forwarded(body, headers);
    const printed =
      this.call.options.json === true
        ? `{"id":${JSON.stringify(id)},"status":${status},"error":${JSON.stringify(error)},"message":${body}}`
        : `${printable(`${id} ${error ?? (this.forward === undefined ? '' : `→ ${status}`)}`)}\n${printable(body)}`;
    response.writeHead(status).end();
    // The service must not wait for the reader of this output.
    await this.call
      .write(`${printed}\n`)
      .catch((writeError: Error) => this.call.shell.writeError(`${writeError.message}\n`));
  }

  private async forwarded(body: string, headers: Record<string, string>) {
    if (this.forward === undefined) return { status: 204, error: null };
    try {
      const signal = AbortSignal.timeout(FORWARD_MS);
      const request = { method: 'POST', body, headers, signal, redirect: 'manual' } as const;
      const { status, body: unread } = await fetch(this.forward, request);
      await unread?.cancel();
      return { status, error: null };
    } catch (error) {
      const { cause } = error as Error;
      const why = cause instanceof Error ? cause.message : String(error);
      return { status: 502, error: `It could not be forwarded: ${why}` };
    }
  }
}
