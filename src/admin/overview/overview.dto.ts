import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CLIENT_STATES, type ClientState } from '../../auth/clients/client-list.js';
import { Text } from '../../http/validation/fields.js';
import { Instant } from '../../http/validation/fields.js';
import { WithoutApiKey } from '../../http/validation/without-api-key.js';

/** What the requests of all clients came to. */
@ApiSchema({ name: 'Traffic', description: 'The requests of all clients since an instant.' })
class TrafficDto {
  @Instant({ description: 'Since when' })
  since!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Requests with a valid key, refused ones included',
    example: 640,
  })
  requests!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Requests that got 4xx, but for 429 and 499',
    example: 12,
  })
  clientErrors!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that got 5xx', example: 0 })
  serverErrors!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that got 429', example: 3 })
  refused!: number;
}

/** How many clients are in a state. */
@ApiSchema({
  name: 'ClientsInState',
  description: 'How many clients are in a state; `listClients` lists them.',
})
class ClientsInStateDto {
  @ApiProperty({ enum: CLIENT_STATES, enumName: 'ClientState', description: 'The state' })
  state!: ClientState;

  @ApiProperty({ type: 'integer', example: 1 })
  clients!: number;
}

/** A client that had requests refused. */
@ApiSchema({
  name: 'RefusedClient',
  description: 'A client with requests refused in this UTC hour or the previous one.',
})
class RefusedClientDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  clientId!: string;

  @ApiProperty({ type: 'string', example: 'My shop' })
  name!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Its requests that got 429 in this UTC hour and the previous one',
    example: 512,
  })
  refused!: number;
}

/** A deprecated operation that is still called. */
@ApiSchema({ name: 'DeprecatedCalls', description: 'A deprecated operation that was called today.' })
class DeprecatedCallsDto {
  @ApiProperty({ type: 'string', example: 'GET /v1/orders/:orderId' })
  operation!: string;

  @ApiProperty({ type: 'integer', example: 12 })
  calls!: number;
}

/** The state of the service for an operator. */
@ApiSchema({ name: 'Overview', description: 'What an operator looks at first.' })
export class OverviewDto {
  @ApiProperty({ type: [TrafficDto], description: 'The last 60 minutes, and the UTC day' })
  traffic!: TrafficDto[];

  @ApiProperty({ type: 'integer', description: 'How many clients there are', example: 640 })
  clients!: number;

  @ApiProperty({
    type: [ClientsInStateDto],
    description: 'States of clients, each of which `listClients` takes',
  })
  states!: ClientsInStateDto[];

  @ApiProperty({
    type: [RefusedClientDto],
    description: 'The clients with most refused requests in this UTC hour and the previous one, at most 5',
  })
  refusedMost!: RefusedClientDto[];

  @ApiProperty({
    type: [DeprecatedCallsDto],
    description: 'Deprecated operations called today, most called first',
  })
  deprecated!: DeprecatedCallsDto[];
}

/** Query of a search. */
export class SearchQuery {
  @Text({
    description:
      'Part of the name or the id of a client, the id or the first characters of a key, or an `X-Request-Id`',
    maxLength: 255,
  })
  @WithoutApiKey()
  text!: string;
}

const KINDS = ['client', 'key', 'request'] as const;

/** Something that was found. */
@ApiSchema({ name: 'Found', description: 'A client, a key or a request that was found.' })
export class FoundDto {
  @ApiProperty({ enum: KINDS, enumName: 'FoundKind', description: 'What was found' })
  kind!: (typeof KINDS)[number];

  @ApiProperty({ type: 'string', description: 'Id of the client or key, or `X-Request-Id`' })
  id!: string;

  @ApiProperty({ type: 'string', description: 'Its name for people', example: 'My shop' })
  title!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The client that it belongs to' })
  clientId!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Name of that client; null if it was deleted' })
  clientName!: string | null;
}
