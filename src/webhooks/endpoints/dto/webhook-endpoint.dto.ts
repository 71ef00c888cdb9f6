import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ONE_CHANGE } from '../../../auth/clients/key-rules.js';
import { isoOf } from '../../../core/time/clock.js';
import { Duration, Flag, Instant, StringList, Text, Uuid } from '../../../http/validation/fields.js';
import type { SubscribedEndpoint } from '../endpoint-events.js';
import {
  DISABLED_BECAUSE,
  type DisabledBecause,
  type WebhookEndpoint,
} from '../../webhook-endpoint.entity.js';
import { signing } from '../../webhook-signature.js';
import { WithoutApiKey } from '../../../http/validation/without-api-key.js';

/** Maximum length of an endpoint's URL, in characters. */
const MAX_URL_LENGTH = 2_048;
/** Maximum number of events per endpoint. */
export const MAX_EVENTS = 50;

const URL_EXAMPLE = 'https://shop.example.com/webhooks';

/** A webhook endpoint without its secret. */
@ApiSchema({ name: 'WebhookEndpoint', description: 'A client’s URL that receives messages.' })
export class WebhookEndpointDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The client that owns the endpoint' })
  clientId!: string;

  @ApiProperty({ type: 'string', description: 'Name of the client', example: 'My shop' })
  clientName!: string;

  @ApiProperty({ type: 'string', description: 'URL that messages are sent to', example: URL_EXAMPLE })
  url!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'A label that helps people to recognize it',
    example: 'Web shop',
  })
  label!: string | null;

  @ApiProperty({ type: [String], description: 'Events that it receives', example: ['quota.threshold'] })
  events!: readonly string[];

  @ApiProperty({ type: 'boolean', description: 'Whether it receives messages' })
  enabled!: boolean;

  @Instant({ description: 'When it was disabled; null if it is enabled', nullable: true })
  disabledAt!: string | null;

  @ApiProperty({
    enum: DISABLED_BECAUSE,
    enumName: 'WebhookDisabledBecause',
    nullable: true,
    description:
      'Why it is disabled: by its `owner` or an `operator`, because it was `failing` for three days, or because it responded with 410 (`gone`)',
  })
  disabledBecause!: DisabledBecause | null;

  @Instant({
    description:
      'Time of the first failed attempt to send the next message, kept if the endpoint was disabled as `failing`; otherwise null',
    nullable: true,
  })
  failingSince!: string | null;

  @Instant({
    description:
      'When the next attempt of a failing endpoint is due. Null if it is not failing or is disabled',
    nullable: true,
  })
  nextAttemptAt!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description:
      'Why the last attempt failed, even if the endpoint has been disabled since; null if it did not fail',
    example: 'It responded with 503.',
  })
  lastError!: string | null;

  @Instant({
    description: 'Time until which messages are also signed with an older secret; null if they are not',
    nullable: true,
  })
  previousSecretUntil!: string | null;

  @Instant({ description: 'When it was created' })
  createdAt!: string;
}

/** Converts an endpoint for display at a time in ms since the Unix epoch. */
export function toWebhookEndpointDto(endpoint: SubscribedEndpoint, now: number): WebhookEndpointDto {
  const { id, clientId, clientName, url, label, events, disabledAt, disabledBecause } = endpoint;
  const { lastError, previousSecrets, createdAt } = endpoint;
  const expiries = signing(previousSecrets, now)
    .map(({ until }) => until)
    .toSorted();
  const enabled = disabledAt === null;
  // A disabled endpoint receives nothing, so nothing fails; enabling it resets the failures.
  const failingSince = enabled || disabledBecause === 'failing' ? endpoint.failingSince : null;
  const state = {
    enabled,
    disabledAt,
    disabledBecause,
    failingSince,
    nextAttemptAt: nextAttemptOf(endpoint),
    lastError,
  };
  return {
    id,
    clientId,
    clientName,
    url,
    label,
    events,
    ...state,
    previousSecretUntil: expiries.at(-1) ?? null,
    createdAt,
  };
}

/** When the next attempt of an endpoint is due; null if it is not failing or is disabled. */
export function nextAttemptOf({
  disabledAt,
  failures,
  dueAt,
}: Pick<WebhookEndpoint, 'disabledAt' | 'failures' | 'dueAt'>): string | null {
  return disabledAt === null && failures > 0 ? isoOf(Number(dueAt)) : null;
}

/** An endpoint, and the number of waiting messages. */
@ApiSchema({
  name: 'WebhookEndpointState',
  description: 'An endpoint, and the number of waiting messages.',
})
export class WebhookEndpointStateDto extends WebhookEndpointDto {
  @ApiProperty({ type: 'integer', description: 'Messages that have not been delivered yet', example: 0 })
  waiting!: number;
}

/** An endpoint with its new secret. */
@ApiSchema({
  name: 'WebhookEndpointWithSecret',
  description: 'An endpoint with its new secret, which is shown only in this response.',
})
export class WebhookEndpointWithSecretDto extends WebhookEndpointDto {
  @ApiProperty({
    type: 'string',
    description: 'Secret for verifying its messages (Standard Webhooks 1.0)',
    example: 'whsec_…',
  })
  secret!: string;
}

/** Converts an endpoint with its new secret for display. */
export function toWebhookEndpointWithSecretDto(
  created: SubscribedEndpoint,
  now: number,
): WebhookEndpointWithSecretDto {
  const { id, ...rest } = toWebhookEndpointDto(created, now);
  return { id, secret: created.secret, ...rest };
}

const URL_FIELD = {
  description:
    'URL that messages are sent to, in its normal form: https, a public host, and no user, password or fragment',
  example: URL_EXAMPLE,
  maxLength: MAX_URL_LENGTH,
};
const EVENTS = {
  description: 'Events that it receives; the key must have the scope of each',
  example: ['quota.threshold'],
  maxItems: MAX_EVENTS,
};
const LABEL = {
  description: 'A label that helps people to recognize it',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** Body that creates an endpoint for the caller's client. */
@ApiSchema({
  name: 'NewOwnWebhookEndpoint',
  description: 'The URL, events and label of a new webhook endpoint.',
})
export class NewOwnWebhookEndpointDto {
  @Text(URL_FIELD)
  @WithoutApiKey()
  url!: string;

  @StringList(EVENTS)
  events!: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;
}

/** Body that creates an endpoint for any client. */
@ApiSchema({
  name: 'NewWebhookEndpoint',
  description: 'The URL, events and label of a new webhook endpoint.',
})
export class NewWebhookEndpointDto extends NewOwnWebhookEndpointDto {
  @Uuid({ description: 'The client that owns the endpoint' })
  clientId!: string;
}

/** Changeable fields of an endpoint; omitted fields do not change. */
@ApiSchema({
  name: 'WebhookEndpointChanges',
  description: 'Changes to a webhook endpoint; omitted fields do not change.',
  ...ONE_CHANGE,
})
export class WebhookEndpointChangesDto {
  @Text({ ...URL_FIELD, optional: true })
  @WithoutApiKey()
  url?: string;

  @StringList({ ...EVENTS, optional: true })
  events?: string[];

  @Text({ ...LABEL, nullable: true })
  @WithoutApiKey()
  label?: string | null;

  @Flag({
    description:
      'Whether it receives messages. When it is enabled again, it continues with the waiting messages. `true` has no effect on an enabled ' +
      'endpoint; to retry a failing endpoint, call `POST …/retry`',
    optional: true,
  })
  enabled?: boolean;
}

/** Body that rotates the secret of an endpoint. */
@ApiSchema({ name: 'WebhookSecretRotation', description: 'Parameters of a secret rotation.' })
export class WebhookSecretRotationDto {
  /** In milliseconds. */
  @Duration({
    description:
      'How long messages are also signed with the old secret. Secrets from earlier rotations keep their own grace period. 0 invalidates ' +
      'all old secrets immediately',
    example: '24h',
    default: '24h',
    allowZero: true,
  })
  grace!: number;
}

/** An event that endpoints can subscribe to. */
@ApiSchema({ name: 'WebhookEvent', description: 'An event that endpoints can subscribe to.' })
export class WebhookEventDto {
  @ApiProperty({ type: 'string', example: 'quota.threshold' })
  name!: string;

  @ApiProperty({
    type: 'string',
    description: 'Description of the event',
    example: 'You have used 80 % or all of the requests of a minute or a day.',
  })
  description!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Scope that a key needs to subscribe an endpoint to this event; null if it needs none',
    example: 'account',
  })
  scope!: string | null;
}
