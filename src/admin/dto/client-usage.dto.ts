import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Client } from '../../auth/clients/client.entity.js';
import type { DetailedUsage, Usage } from '../../auth/usage/usage.service.js';
import { isoOf } from '../../core/time/clock.js';
import { ClientDto, toClientDto } from './client.dto.js';
import { Instant } from '../../http/validation/fields.js';

/** A current quota window of a client. */
@ApiSchema({ name: 'WindowUse', description: 'The current state of one window of a client’s quota.' })
class WindowUseDto {
  @ApiProperty({ type: 'string', example: 'minute' })
  name!: string;

  @ApiProperty({ type: 'integer', description: 'Requests allowed in the window', example: 300 })
  limit!: number;

  @ApiProperty({ type: 'integer', description: 'Requests admitted in the window', example: 12 })
  used!: number;

  @ApiProperty({ type: 'integer', description: 'Requests left in the window', example: 288 })
  remaining!: number;

  @Instant({ description: 'When the full limit is available again' })
  resetsAt!: string;
}

/** A currently banned key. */
@ApiSchema({
  name: 'Ban',
  description: 'A key that is temporarily banned because it kept sending requests after 429.',
})
class BanDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  keyId!: string;

  @ApiProperty({ type: 'string', description: 'The first characters of the key', example: 'pst_live_4fTz' })
  keyPrefix!: string;

  @Instant({ description: 'When the ban ends' })
  bannedUntil!: string;
}

const REFUSED = 'Requests refused with 429, due to a limit or a ban';

/** Requests of a day. */
@ApiSchema({ name: 'DayUse', description: 'The requests of one UTC day.' })
class DayUseDto {
  @ApiProperty({ type: 'string', format: 'date', example: '2026-11-20' })
  date!: string;

  @ApiProperty({ type: 'integer', description: 'Requests admitted', example: 640 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: REFUSED, example: 12 })
  refused!: number;
}

/** Requests of a minute. */
@ApiSchema({ name: 'MinuteUse', description: 'The requests of one minute.' })
class MinuteUseDto {
  @Instant({ description: 'Start of the minute' })
  minute!: string;

  @ApiProperty({ type: 'integer', description: 'Requests admitted that used quota', example: 64 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: REFUSED, example: 12 })
  refused!: number;
}

/** Number of requests with an outcome. */
@ApiSchema({
  name: 'OutcomeUse',
  description: 'The number and duration of requests with the same outcome.',
})
class OutcomeUseDto {
  @ApiProperty({
    type: 'string',
    description:
      '`2xx`, `304`, or the status and code of an error, followed by ` uncounted` if the request used no quota',
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
    description: 'Median duration in the days shown, in milliseconds, estimated from a histogram',
    example: 0.71,
  })
  p50Ms!: number | null;

  @ApiProperty({
    type: 'number',
    nullable: true,
    description: '99th percentile of the durations',
    example: 3.42,
  })
  p99Ms!: number | null;
}

/** Number of requests of a key to an operation with an outcome. */
@ApiSchema({ name: 'OperationUse', description: 'Outcomes of the requests of a key to an operation.' })
class OperationUseDto extends OutcomeUseDto {
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'Null for requests that are not counted separately',
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
      'Method and route. `unmatched` if no route matches. `other` for further kinds of requests after the first 1,000 of the client in a day, ' +
      'or 200 in a minute. Of these, only the class of the outcome is counted, such as `4xx`',
    example: 'GET /account/keys',
  })
  operation!: string;
}

/** Calls to a deprecated operation. */
@ApiSchema({ name: 'DeprecatedUse', description: 'Calls to one deprecated operation in the days shown.' })
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
      'The current minute and day, as counted by the responding process or, with Redis, by all processes',
  })
  windows!: WindowUseDto[];

  @ApiProperty({ type: [BanDto], description: 'Its banned keys' })
  bans!: readonly BanDto[];

  @Instant({ description: 'When one of its keys was last used, to the minute', nullable: true })
  lastUsedAt!: string | null;

  @Instant({
    description: 'Earliest expiry of its keys that were not rotated, if within 7 days; otherwise null',
    nullable: true,
  })
  keyExpiresAt!: string | null;

  @ApiProperty({ type: [DayUseDto], description: 'Requests in each UTC day, latest first' })
  days!: readonly DayUseDto[];

  @ApiProperty({
    type: [OutcomeUseDto],
    description: 'Outcomes of its requests in these days, most frequent first',
  })
  outcomes!: readonly OutcomeUseDto[];

  @ApiProperty({ type: [DeprecatedUseDto], description: 'Its calls to deprecated operations in these days' })
  deprecatedCalls!: readonly DeprecatedUseDto[];
}

/** The usage with the last minutes, keys and operations. */
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

/** Converts a client and its usage for display. */
export function toClientUsageDto(client: Client, usage: DetailedUsage): ClientDetailsDto;
export function toClientUsageDto(client: Client, usage: Usage): ClientUsageDto;
export function toClientUsageDto(client: Client, { windows, limits, ...usage }: Usage): ClientUsageDto {
  const shown = windows.map(({ name, limit, used, remaining, resetsAt }) => {
    return { name, limit, used, remaining, resetsAt: isoOf(resetsAt) };
  });
  return Object.assign(toClientDto(client, limits), { windows: shown, ...usage });
}
