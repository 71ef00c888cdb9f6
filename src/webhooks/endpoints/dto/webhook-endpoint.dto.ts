import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Duration, Flag, Instant, Names, Text, Uuid } from '../../../http/validation/fields.js';
import type { EndpointWithSecret, SubscribedEndpoint } from '../endpoint-orders.js';
import { LONGEST_URL, MOST_EVENTS } from '../endpoint-rules.js';
import { DISABLED_BECAUSE, type DisabledBecause } from '../../webhook-endpoint.entity.js';
import type { WebhookEvent } from '../../webhook-events.js';
import { WithoutApiKey } from '../../../http/validation/without-api-key.js';

const URL_EXAMPLE = 'https://shop.example.com/webhooks';

/** A webhook endpoint as shown; never its secret. */
@ApiSchema({ name: 'WebhookEndpoint', description: 'An address of a client that is sent messages.' })
export class WebhookEndpointDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'Client that the endpoint belongs to' })
  clientId!: string;

  @ApiProperty({ type: 'string', description: 'Where messages are sent', example: URL_EXAMPLE })
  url!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'What people call it', example: 'Web shop' })
  label!: string | null;

  @ApiProperty({ type: [String], description: 'The events it is sent', example: ['pets.created'] })
  events!: readonly string[];

  @ApiProperty({ type: 'boolean', description: 'Whether it is sent messages' })
  enabled!: boolean;

  @Instant({ description: 'Since when it is sent nothing; null while it is enabled', nullable: true })
  disabledAt!: string | null;

  @ApiProperty({
    type: 'string',
    enum: [...DISABLED_BECAUSE, null],
    nullable: true,
    description:
      'Why it is sent nothing: by its `owner` or an `operator`; it was `failing` for three days; it responded 410 (`gone`)',
  })
  disabledBecause!: DisabledBecause | null;

  @Instant({
    description: 'Since when the message that is next fails; null while it does not',
    nullable: true,
  })
  failingSince!: string | null;

  @Instant({
    description: 'Until when a secret before the present one signs, too; null for no more',
    nullable: true,
  })
  previousSecretUntil!: string | null;

  @Instant({ description: 'When it was made' })
  createdAt!: string;
}

/** Makes the shown form of an endpoint. */
export function toWebhookEndpointDto({ endpoint, events }: SubscribedEndpoint): WebhookEndpointDto {
  const { id, clientId, url, label, disabledAt, disabledBecause, failingSince } = endpoint;
  const { previousSecrets, createdAt } = endpoint;
  const previousSecretUntil =
    previousSecrets
      .map(({ until }) => until)
      .toSorted()
      .at(-1) ?? null;
  const enabled = disabledAt === null;
  const state = { enabled, disabledAt, disabledBecause, failingSince };
  return { id, clientId, url, label, events, ...state, previousSecretUntil, createdAt };
}

/** One endpoint, and how much it has not been sent yet. */
@ApiSchema({ name: 'WebhookEndpointState', description: 'An endpoint, and how much waits for it.' })
export class WebhookEndpointStateDto extends WebhookEndpointDto {
  @ApiProperty({ type: 'integer', description: 'Messages that it has not been sent yet', example: 0 })
  waiting!: number;
}

/** Makes the shown form of one endpoint. */
export function toWebhookEndpointStateDto(
  found: SubscribedEndpoint,
  waiting: number,
): WebhookEndpointStateDto {
  return Object.assign(toWebhookEndpointDto(found), { waiting });
}

/** An endpoint whose secret was just made. */
@ApiSchema({
  name: 'WebhookEndpointWithSecret',
  description: 'An endpoint whose secret was just made. It is shown this once.',
})
export class WebhookEndpointWithSecretDto extends WebhookEndpointDto {
  @ApiProperty({
    type: 'string',
    description: 'What signs its messages, to verify them with (Standard Webhooks 1.0)',
    example: 'whsec_…',
  })
  secret!: string;
}

/** Makes the shown form of an endpoint whose secret was just made. */
export function toWebhookEndpointWithSecretDto(made: EndpointWithSecret): WebhookEndpointWithSecretDto {
  const { id, ...rest } = toWebhookEndpointDto(made);
  return { id, secret: made.secret, ...rest };
}

const URL_FIELD = {
  description:
    'Absolute address that messages are sent to, in its normal form: https, without user, password and fragment, and none of a private network',
  example: URL_EXAMPLE,
  maxLength: LONGEST_URL,
};
const EVENTS = {
  description: 'The events it is sent; the key must have the scope of each',
  example: ['pets.created'],
  most: MOST_EVENTS,
};
const LABEL = {
  description: 'What people call the endpoint',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** An endpoint to create for the caller's client. */
@ApiSchema({ name: 'NewOwnWebhookEndpoint', description: 'A webhook endpoint to make.' })
export class NewOwnWebhookEndpointDto {
  @Text(URL_FIELD)
  @WithoutApiKey()
  url!: string;

  @Names(EVENTS)
  events!: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;
}

/** An endpoint to make for any client. */
@ApiSchema({ name: 'NewWebhookEndpoint', description: 'A webhook endpoint to make.' })
export class NewWebhookEndpointDto extends NewOwnWebhookEndpointDto {
  @Uuid({ description: 'Client that the endpoint belongs to' })
  clientId!: string;
}

/** What can be changed of an endpoint; what is left out stays as it is. */
@ApiSchema({
  name: 'WebhookEndpointChanges',
  description: 'What to change of a webhook endpoint; what is left out stays as it is.',
})
export class WebhookEndpointChangesDto {
  @Text({ ...URL_FIELD, optional: true })
  @WithoutApiKey()
  url?: string;

  @Names({ ...EVENTS, optional: true })
  events?: string[];

  @Text({ ...LABEL, nullable: true })
  @WithoutApiKey()
  label?: string | null;

  @Flag({
    description: 'Whether it is sent messages; when enabled again, it continues with the next message',
    optional: true,
  })
  enabled?: boolean;
}

/** How the secret of an endpoint is rotated. */
@ApiSchema({ name: 'WebhookSecretRotation', description: 'How to rotate the secret of a webhook endpoint.' })
export class WebhookSecretRotationDto {
  /** In milliseconds. */
  @Duration({
    description:
      'How long the old secret signs besides the new one; those before it do until their own ends. 0 ends all old ones at once',
    example: '24h',
    default: '24h',
    orZero: true,
  })
  grace!: number;
}

/** An event that endpoints can subscribe to. */
@ApiSchema({ name: 'WebhookEvent', description: 'An event that endpoints can subscribe to.' })
export class WebhookEventDto {
  @ApiProperty({ type: 'string', example: 'pets.created' })
  name!: string;

  @ApiProperty({ type: 'string', description: 'When it happens', example: 'An animal was added.' })
  description!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Scope that a key needs to subscribe an endpoint to it; null if any key may',
    example: 'pets:read',
  })
  scope!: string | null;
}

/** Makes the shown form of an event. */
export function toWebhookEventDto({ name, description, scope }: WebhookEvent<object>): WebhookEventDto {
  return { name, description, scope: scope?.name ?? null };
}
