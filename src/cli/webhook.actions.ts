import type { INestApplication } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Text } from '../http/validation/fields.js';
import {
  WebhookDeliveriesQuery,
  type WebhookDeliveryDto,
} from '../webhooks/endpoints/dto/webhook-delivery.dto.js';
import {
  NewOwnWebhookEndpointDto,
  WebhookEndpointChangesDto,
  type WebhookEndpointDto,
  WebhookSecretRotationDto,
} from '../webhooks/endpoints/dto/webhook-endpoint.dto.js';
import { tellableEvents } from '../webhooks/endpoints/endpoint-rules.js';
import { WebhookDeliveriesService } from '../webhooks/endpoints/webhook-deliveries.service.js';
import { WebhookEndpointsService } from '../webhooks/endpoints/webhook-endpoints.service.js';
import { WebhookSecretsService } from '../webhooks/endpoints/webhook-secrets.service.js';
import { WebhookDelivery } from '../webhooks/webhook-delivery.entity.js';
import type { Call } from './frame/call.js';
import { type Column, Moment, factsOf } from './frame/list-table.js';
import { Refusal } from '../core/refusal.js';
import { LimitOption, clientOf, everyPage, inputOf, ofClient } from './frame/service-calls.js';
import { printableLines, tableOf } from './frame/table.js';

/** A new endpoint for a client that is given by its id or name. */
class EndpointOrder extends NewOwnWebhookEndpointDto {
  @Text({ maxLength: 255 })
  client!: string;
}

const endpointsOf = (app: INestApplication) => app.get(WebhookEndpointsService);
const deliveriesOf = (app: INestApplication) => app.get(WebhookDeliveriesService);

/** `petstore webhook create`. */
export async function create(call: Call): Promise<void> {
  const { client, ...input } = await inputOf(EndpointOrder, call.options);
  const app = await call.start();
  const { id: clientId } = await clientOf(app, client);
  const order = { ...input, clientId };
  const made = await endpointsOf(app).create(order, call.by);
  await call.showChange(made, () => shownOnce(`Created the endpoint ${made.id}.`, made.secret));
}

const STATE: Column<WebhookEndpointDto> = [
  'state',
  ({ enabled, disabledBecause, failingSince }) =>
    enabled ? (failingSince === null ? 'enabled' : 'failing') : `disabled (${disabledBecause})`,
];

/** `petstore webhook list`. */
export async function list(call: Call): Promise<void> {
  const app = await call.start();
  const { clientId } = await ofClient(app, call);
  const found = await everyPage((page) => endpointsOf(app).list(page, clientId));
  const columns = ['id', 'url', STATE, 'events', 'label', 'createdAt', 'clientId'] as const;
  const none = 'There are no endpoints; create one with `petstore webhook create`.';
  await call.showList(found, columns, none);
}

/** `petstore webhook show`. */
export async function show(call: Call, id: string): Promise<void> {
  const shown = await endpointsOf(await call.start()).get(id, call.by);
  await call.show(shown, () => `${endpointText(shown)}\n${tableOf([['waiting    ', shown.waiting]])}`);
}

/** `petstore webhook update`. */
export async function update(call: Call, id: string): Promise<void> {
  const input = await inputOf(WebhookEndpointChangesDto, call.options);
  await change(call, id, input, 'Changed the endpoint.');
}

/** `petstore webhook enable` and `disable`. */
export async function turn(call: Call, id: string, enabled: boolean): Promise<void> {
  await change(call, id, { enabled }, `The endpoint is ${enabled ? 'enabled' : 'disabled'}.`);
}

async function change(
  call: Call,
  id: string,
  changes: WebhookEndpointChangesDto,
  done: string,
): Promise<void> {
  const endpoints = endpointsOf(await call.start());
  const changed = await endpoints.update(id, changes, call.by);
  await call.showChange(changed, () => `${done}\n${endpointText(changed)}`);
}

/** `petstore webhook rotate`. */
export async function rotate(call: Call, id: string): Promise<void> {
  const { grace } = await inputOf(WebhookSecretRotationDto, call.options);
  if (grace === 0) call.requireConsent();
  const secrets = (await call.start()).get(WebhookSecretsService);
  if (grace === 0) await call.confirm(`End the old secrets of the endpoint ${id} at once`);
  const rotated = await secrets.rotate(id, grace, call.by);
  const until = rotated.previousSecretUntil;
  const done = `The endpoint has a new secret; ${until === null ? 'no old one signs' : `old ones sign until ${until}`}.`;
  await call.showChange(rotated, () => shownOnce(done, rotated.secret));
}

/** `petstore webhook delete`. */
export async function remove(call: Call, id: string): Promise<void> {
  call.requireConsent();
  const endpoints = endpointsOf(await call.start());
  const { url } = await endpoints.get(id, call.by);
  await call.confirm(`Delete the endpoint ${id} (${url}) with its log, for good`);
  const deleted = await endpoints.delete(id, call.by);
  await call.showChange(deleted, () => `Deleted the endpoint ${deleted.id}.`);
}

/** `petstore webhook test`. */
export async function test(call: Call, id: string): Promise<void> {
  await showSent(call, await deliveriesOf(await call.start()).test(id, call.by));
}

/** `petstore webhook redeliver`. */
export async function redeliver(call: Call, given: string): Promise<void> {
  const app = await call.start();
  const { id, endpointId } = await deliveryOf(app, given);
  await showSent(call, await deliveriesOf(app).redeliver(endpointId, id, call.by));
}

async function showSent(call: Call, sent: WebhookDeliveryDto): Promise<void> {
  const text = `The delivery ${sent.id} is waiting; the running service sends it. \`petstore webhook delivery ${sent.id}\` shows how it ended.`;
  await call.showChange(sent, () => text);
}

const DELIVERY_COLUMNS: readonly Column<WebhookDeliveryDto>[] = [
  'id',
  'event',
  'state',
  'attempts',
  ['response', ({ error, status }) => error ?? status],
  ['last sent', ({ attemptedAt }) => new Moment(attemptedAt, 'never')],
  'happenedAt',
  'messageId',
];

/** `petstore webhook deliveries`. */
export async function deliveries(call: Call, endpointId: string): Promise<void> {
  const { limit } = await inputOf(LimitOption, call.options);
  const { state } = await inputOf(WebhookDeliveriesQuery, { ...call.options, limit: undefined });
  const sent = deliveriesOf(await call.start());
  const found = await everyPage((page) => sent.list(page, endpointId, call.by, state), limit);
  await call.showList(found, DELIVERY_COLUMNS, 'There is no such delivery.');
}

/** `petstore webhook delivery`. */
export async function delivery(call: Call, given: string): Promise<void> {
  const app = await call.start();
  const { id, endpointId } = await deliveryOf(app, given);
  const sent = await deliveriesOf(app).get(endpointId, id, call.by);
  const { payload, attemptLog, ...facts } = sent;
  const rows = Object.entries(facts).map(([name, value]) => [name, value === null ? null : String(value)]);
  const attempts = attemptLog.map(({ at, status, durationMs, error, response }) => [
    at,
    `${durationMs} ms`,
    error ?? status,
    response,
  ]);
  await call.show(sent, () => [tableOf(rows), printableLines(payload), tableOf(attempts)].join('\n\n'));
}

/** `petstore webhook events`. */
export async function events(call: Call): Promise<void> {
  await call.start('none');
  const all = tellableEvents();
  await call.showList(all, [
    ['event', ({ name }) => name],
    'scope',
    ['when', ({ description }) => description],
  ]);
}

/** The delivery with this id. Throws Refusal without one. */
async function deliveryOf(app: INestApplication, given: string): Promise<WebhookDelivery> {
  const isId = /^[1-9]\d{0,17}$/.test(given);
  const { manager } = app.get(DataSource);
  const found = isId ? await manager.findOneBy(WebhookDelivery, { id: BigInt(given) }) : null;
  if (found) return found;
  throw new Refusal(`There is no delivery ${given}; \`petstore webhook deliveries <endpoint>\` lists them.`);
}

const shownOnce = (done: string, secret: string): string =>
  `${done} Its secret is shown only once:\n\n${secret}`;

function endpointText(endpoint: WebhookEndpointDto): string {
  return tableOf(
    factsOf(endpoint, [
      'id',
      'clientId',
      'url',
      'label',
      'events',
      STATE,
      'disabledAt?',
      'failingSince?',
      ['old secret until?', ({ previousSecretUntil }) => previousSecretUntil],
      'createdAt',
    ]),
  );
}
