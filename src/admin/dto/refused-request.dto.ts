import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { NamedError } from '../../auth/usage/request-history.js';
import { Instant } from '../../http/validation/fields.js';

/** A request that returned an error, on the command line and over HTTP. */
@ApiSchema({
  name: 'RefusedRequest',
  description: 'A request that was sent with a client’s key and returned an error.',
})
export class RefusedRequestDto {
  @Instant({ description: 'When the response was sent' })
  at!: string;

  @ApiProperty({ type: 'string', description: '`X-Request-Id`; not unique, because clients can choose it' })
  requestId!: string;

  @ApiProperty({ type: 'string', format: 'uuid' })
  clientId!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Name of the client; null if it was deleted',
    example: 'My shop',
  })
  clientName!: string | null;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    nullable: true,
    description: 'Null for a credential other than an API key',
  })
  keyId!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The first characters of the key',
    example: 'pst_live_4fTz',
  })
  keyPrefix!: string | null;

  @ApiProperty({ type: 'string', description: 'Method and route', example: 'GET /account/keys' })
  operation!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Status of the response; 499 if the client closed the connection first',
    example: 404,
  })
  status!: number;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Code of the error; null if the response had none',
    example: 'pet_not_found',
  })
  code!: string | null;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'IP address of the caller',
    example: '203.0.113.7',
  })
  address!: string | null;
}

/** Converts a request that returned an error for display. */
export function toRefusedRequestDto({ id: _, ...shown }: NamedError): RefusedRequestDto {
  return shown;
}
