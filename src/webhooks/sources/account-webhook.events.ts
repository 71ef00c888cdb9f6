import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { defineWebhookEvent } from '../webhook-events.js';

/** A key without its secret. */
class TheKey {
  @ApiProperty({ type: 'string' })
  readonly keyId!: string;

  @ApiProperty({ type: 'string', description: 'The first characters of the key' })
  readonly prefix!: string;

  @ApiProperty({ type: 'string', nullable: true })
  readonly label!: string | null;
}

/** A key that expires soon. */
@ApiSchema({ name: 'ApiKeyExpiring' })
export class ApiKeyExpiring extends TheKey {
  @ApiProperty({
    type: 'string',
    enum: ['7d', '1d'],
    description: 'How long before its expiry the notice is sent',
  })
  readonly notice!: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly expiresAt!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'The key that it was rotated to' })
  readonly replacedBy!: string | null;
}

/** A temporarily banned key. */
@ApiSchema({ name: 'ApiKeyIsBanned' })
export class ApiKeyIsBanned extends TheKey {
  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly bannedUntil!: string;
}

/** The used share of one of the client's quota windows. */
@ApiSchema({ name: 'QuotaThresholdReached' })
export class QuotaThresholdReached {
  @ApiProperty({ type: 'string', enum: ['minute', 'day'] })
  readonly window!: string;

  @ApiProperty({ type: 'integer', enum: [80, 100] })
  readonly percent!: number;

  @ApiProperty({ type: 'integer', description: 'Requests allowed in the window' })
  readonly limit!: number;

  @ApiProperty({ type: 'integer', description: 'Requests admitted in the window so far' })
  readonly used!: number;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When the full limit is available again' })
  readonly resetsAt!: string;
}

/** A key of the client expires soon. */
export const API_KEY_EXPIRING = defineWebhookEvent('api_key.expiring', {
  data: ApiKeyExpiring,
  description:
    'One of your keys expires. Sent 7 days and 1 day in advance, but not for keys with a shorter lifetime than that. `data`: ' +
    '`keyId`, `prefix`, `label`, `notice` (`7d` or `1d`), `expiresAt`, and `replacedBy`, the key that it was rotated to.',
});

/** A key of the client was banned. */
export const WEBHOOK_API_KEY_BANNED = defineWebhookEvent('api_key.banned', {
  data: ApiKeyIsBanned,
  description:
    'One of your keys was temporarily banned because it kept sending requests after 429. `data`: `keyId`, `prefix`, `label`, `bannedUntil`.',
});

/** The client has used up a share of a window. */
export const WEBHOOK_QUOTA_THRESHOLD = defineWebhookEvent('quota.threshold', {
  data: QuotaThresholdReached,
  description:
    'You have used 80 % or all of your requests in a minute or a day. Sent once per window, limit and percentage. `data`: `window` ' +
    '(`minute` or `day`), `percent` (80 or 100), `limit`, `used`, `resetsAt`.',
});
