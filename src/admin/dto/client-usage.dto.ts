import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Client } from '../../auth/clients/client.entity.js';
import type { DetailedUsage, Usage } from '../../auth/usage/usage.service.js';
import { isoOf } from '../../core/time/clock.js';
import { ClientDto, toClientDto } from './client.dto.js';
import { Instant } from '../../http/validation/fields.js';

/** One quota window of a client, now. */
@ApiSchema({ name: 'WindowUse', description: 'The current state of one window of a client’s quota.' })
class WindowUseDto {
  @ApiProperty({ type: 'string', example: 'minute' })
  name!: string;

  @ApiProperty({ type: 'integer', description: 'Requests allowed in it', example: 300 })
  limit!: number;

  @ApiProperty({ type: 'integer', description: 'Requests admitted in it', example: 12 })
  used!: number;

  @ApiProperty({ type: 'integer', description: 'Requests left in it', example: 288 })
  remaining!: number;

  @Instant({ description: 'When the full limit is available again' })
  resetsAt!: string;
}

/** A key that is banned now. */
@ApiSchema({
  name: 'Ban',
  description: 'A key that is banned for a while because it kept sending after 429.',
})
class BanDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  keyId!: string;

  @ApiProperty({ type: 'string', description: 'The first characters of the key', example: 'pst_live_4fTz' })
  keyPrefix!: string;

  @Instant({ description: 'When the ban ends' })
  bannedUntil!: string;
}

const REFUSED = 'Requests refused with 429, beyond a limit or because the key is banned';

/** The requests of one day. */
@ApiSchema({ name: 'DayUse', description: 'The requests of one UTC day.' })
class DayUseDto {
  @ApiProperty({ type: 'string', format: 'date', example: '2026-11-20' })
  date!: string;

  @ApiProperty({ type: 'integer', description: 'Requests admitted', example: 640 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: REFUSED, example: 12 })
  refused!: number;
}

/** The requests of one minute. */
@ApiSchema({ name: 'MinuteUse', description: 'The requests of one minute.' })
class MinuteUseDto {
  @Instant({ description: 'When it began' })
  minute!: string;

  @ApiProperty({ type: 'integer', description: 'Requests admitted that used quota', example: 64 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: REFUSED, example: 12 })
  refused!: number;
}

/** How often one outcome of requests occurred. */
@ApiSchema({
  name: 'OutcomeUse',
  description: 'An outcome of requests: how often it occurred, and how long the requests took.',
})
class OutcomeUseDto {
  @ApiProperty({
    type: 'string',
    description:
      '`2xx`, `304`, or the status and code of an error; followed by ` uncounted` if the request used no quota',
    example: '404 pet_not_found',
  })
  outcome!: string;

  @ApiProperty({ type: 'integer', description: 'Requests in the days shown', example: 640 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests in the last 60 minutes', example: 64 })
  lastHour!: number;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: 'The median of their durations in the days shown, in milliseconds, from a histogram',
    example: 0.71,
  })
  p50Ms!: number | null;

  @ApiProperty({ type: 'number', nullable: true, description: 'The 99th percentile', example: 3.42 })
  p99Ms!: number | null;
}

/** How often one outcome of the requests of one key to one operation occurred. */
@ApiSchema({ name: 'OperationUse', description: 'Outcomes of the requests of one key to one operation.' })
class OperationUseDto extends OutcomeUseDto {
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'Null for requests that are not counted apart',
  })
  keyId!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The first characters of the key; null without a key, or if it was deleted',
    example: 'pst_live_4fTz',
  })
  keyPrefix!: string | null;

  @ApiProperty({
    type: 'string',
    description:
      'Method and route; `unmatched` without a route; `other` beyond 1,000 kinds of requests of the client in a day, or 200 in a minute, ' +
      'of which only the class of the outcome is counted, such as `4xx`',
    example: 'GET /account/keys',
  })
  operation!: string;
}

/** Calls of one deprecated operation. */
@ApiSchema({ name: 'DeprecatedUse', description: 'Calls of one deprecated operation in the days shown.' })
class DeprecatedUseDto {
  @ApiProperty({ type: 'string', example: 'GET /account/keys' })
  operation!: string;

  @ApiProperty({ type: 'integer', example: 12 })
  calls!: number;

  @ApiProperty({
    type: 'string',
    format: 'date',
    description: 'The last UTC day with calls',
    example: '2026-11-20',
  })
  lastDay!: string;
}

/** A client with its usage, on the command line and over HTTP. */
@ApiSchema({ name: 'ClientUsage', description: 'A client and its usage.' })
export class ClientUsageDto extends ClientDto {
  @ApiProperty({
    type: [WindowUseDto],
    description:
      'The minute and the day as counted by the responding process; with Redis, by all processes together',
  })
  windows!: WindowUseDto[];

  @ApiProperty({ type: [BanDto], description: 'Its keys that are banned' })
  bans!: readonly BanDto[];

  @Instant({ description: 'When one of its keys was last used, to the minute', nullable: true })
  lastUsedAt!: string | null;

  @Instant({
    description:
      'When the first of its keys expires, if it is within 7 days and the key was not rotated; otherwise null',
    nullable: true,
  })
  keyExpiresAt!: string | null;

  @ApiProperty({ type: [DayUseDto], description: 'Requests in each UTC day, latest first' })
  days!: readonly DayUseDto[];

  @ApiProperty({
    type: [OutcomeUseDto],
    description: 'Outcomes of its requests in those days, most frequent first',
  })
  outcomes!: readonly OutcomeUseDto[];

  @ApiProperty({ type: [DeprecatedUseDto], description: 'Its calls of deprecated operations in those days' })
  deprecatedCalls!: readonly DeprecatedUseDto[];
}

/** The same with its last minutes, keys and operations. */
@ApiSchema({ name: 'ClientDetails', description: 'A client and its usage by minute, key and operation.' })
export class ClientDetailsDto extends ClientUsageDto {
  @ApiProperty({
    type: [MinuteUseDto],
    description: 'Requests in each of the last 60 minutes, latest first',
  })
  minutes!: readonly MinuteUseDto[];

  @ApiProperty({
    type: [OperationUseDto],
    description: 'Outcomes of its requests by key and operation, most frequent first, at most 200',
  })
  operations!: readonly OperationUseDto[];
}

/** Makes the shown form of a client and its usage. */
export function toClientUsageDto(client: Client, usage: DetailedUsage): ClientDetailsDto;
export function toClientUsageDto(client: Client, usage: Usage): ClientUsageDto;
export function toClientUsageDto(client: Client, { windows, limits, ...usage }: Usage): ClientUsageDto {
  const shown = windows.map(({ name, limit, used, remaining, resetsAt }) => {
    return { name, limit, used, remaining, resetsAt: isoOf(resetsAt) };
  });
  return Object.assign(toClientDto(client, limits), { windows: shown, ...usage });
}
