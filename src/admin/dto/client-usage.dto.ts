import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Client } from '../../auth/clients/client.entity.js';
import type { Usage } from '../../auth/clients/usage.service.js';
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

  @Instant({ description: 'When it is full again' })
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

  @Instant({ description: 'When the ban ends' })
  bannedUntil!: string;
}

/** The requests of one day. */
@ApiSchema({ name: 'DayUse', description: 'Requests admitted in one UTC day.' })
class DayUseDto {
  @ApiProperty({ type: 'string', format: 'date', example: '2026-11-20' })
  date!: string;

  @ApiProperty({ type: 'integer', example: 640 })
  requests!: number;
}

/** Calls of one deprecated operation. */
@ApiSchema({ name: 'DeprecatedUse', description: 'Calls of one deprecated operation in the days shown.' })
class DeprecatedUseDto {
  @ApiProperty({ type: 'string', example: 'GET /v1/pets/:petId' })
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

/** A client with what it has used, on the command line and over HTTP. */
@ApiSchema({ name: 'ClientUsage', description: 'A client and its usage.' })
export class ClientUsageDto extends ClientDto {
  @ApiProperty({
    type: [WindowUseDto],
    description: 'The minute and the day as the answering process counts them; with Redis, as all do',
  })
  windows!: WindowUseDto[];

  @ApiProperty({ type: [BanDto], description: 'Its keys that are banned' })
  bans!: readonly BanDto[];

  @Instant({ description: 'When any of its keys was last used, to the minute', nullable: true })
  lastUsedAt!: string | null;

  @ApiProperty({ type: [DayUseDto], description: 'Requests admitted in each UTC day, today first' })
  days!: readonly DayUseDto[];

  @ApiProperty({ type: [DeprecatedUseDto], description: 'Its calls of deprecated operations in those days' })
  deprecatedCalls!: readonly DeprecatedUseDto[];
}

/** Makes the shown form of a client and its usage. */
export function toClientUsageDto(client: Client, { windows, limits, ...usage }: Usage): ClientUsageDto {
  const shown = windows.map(({ name, limit, used, remaining, resetsAt }) => {
    return { name, limit, used, remaining, resetsAt: new Date(resetsAt).toISOString() };
  });
  return Object.assign(toClientDto(client, limits), { windows: shown, ...usage });
}
