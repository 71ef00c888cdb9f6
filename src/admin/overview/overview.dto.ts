import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CLIENT_STATES, type ClientState } from '../../auth/clients/client-list.js';
import { Text } from '../../http/validation/fields.js';
import { Instant } from '../../http/validation/fields.js';
import { WithoutApiKey } from '../../http/validation/without-api-key.js';

/** The outcomes of all clients' requests. */
@ApiSchema({ name: 'Traffic', description: 'The requests of all clients since a time.' })
class TrafficDto {
  @Instant({ description: 'Start of the period' })
  since!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Requests with a client’s key, including refused requests',
    example: 640,
  })
  requests!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Requests that returned 4xx, except 429 and 499',
    example: 12,
  })
  clientErrors!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that returned 5xx', example: 0 })
  serverErrors!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that were refused with 429', example: 3 })
  refused!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Requests without a client’s key that were refused with 401, or with 429 because of their address. The log contains the addresses',
    example: 40,
  })
  withoutKey!: number;
}

/** The number of clients in a state. */
@ApiSchema({
  name: 'ClientsInState',
  description: 'The number of clients in a state, which `listClients` can list.',
})
class ClientsInStateDto {
  @ApiProperty({ enum: CLIENT_STATES, enumName: 'ClientState', description: 'The state' })
  state!: ClientState;

  @ApiProperty({ type: 'integer', example: 1 })
  clients!: number;
}

/** A client with refused requests. */
@ApiSchema({
  name: 'RefusedClient',
  description: 'A client whose requests were refused in this UTC hour or the previous one.',
})
class RefusedClientDto {
  @ApiProperty({ type: 'string', format: 'uuid' })
  clientId!: string;

  @ApiProperty({ type: 'string', example: 'My shop' })
  name!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Its requests refused with 429 in this UTC hour and the previous one',
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

/** The state of the service for operators. */
@ApiSchema({ name: 'Overview', description: 'An overview of the service for operators.' })
export class OverviewDto {
  @ApiProperty({ type: [TrafficDto], description: 'The last 60 minutes, and the UTC day' })
  traffic!: TrafficDto[];

  @ApiProperty({ type: 'integer', description: 'Total number of clients', example: 640 })
  clients!: number;

  @ApiProperty({
    type: [ClientsInStateDto],
    description: 'The number of clients in each state',
  })
  states!: ClientsInStateDto[];

  @ApiProperty({
    type: [RefusedClientDto],
    description:
      'The clients with the most refused requests in this UTC hour and the previous one, at most 5',
  })
  refusedMost!: RefusedClientDto[];

  @ApiProperty({
    type: [DeprecatedCallsDto],
    description: 'Deprecated operations called today, most calls first',
  })
  deprecated!: DeprecatedCallsDto[];
}

/** Query of a search. */
export class SearchQuery {
  @Text({
    description:
      'Id or part of the name of a client; id, first characters or part of the label of a key; or `X-Request-Id` of a request',
    maxLength: 255,
  })
  @WithoutApiKey()
  text!: string;
}

const KINDS = ['client', 'key', 'request'] as const;

/** A search result. */
@ApiSchema({ name: 'Found', description: 'A search result: a client, a key or a request.' })
export class FoundDto {
  @ApiProperty({ enum: KINDS, enumName: 'FoundKind', description: 'Kind of the result' })
  kind!: (typeof KINDS)[number];

  @ApiProperty({ type: 'string', description: 'Id of the client or key, or `X-Request-Id`' })
  id!: string;

  @ApiProperty({ type: 'string', description: 'Its display name', example: 'My shop' })
  title!: string;

  @ApiProperty({ type: 'string', format: 'uuid', description: 'The client that owns it' })
  clientId!: string;

  @ApiProperty({ type: 'string', nullable: true, description: 'Name of that client; null if it was deleted' })
  clientName!: string | null;
}
