import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** A scope that keys can hold, over HTTP. */
@ApiSchema({ name: 'Scope', description: 'A permission that a key can have.' })
export class ScopeDto {
  @ApiProperty({ type: 'string', example: 'pets:read' })
  name!: string;

  @ApiProperty({ type: 'string', description: 'What it allows', example: 'List and show animals.' })
  description!: string;

  @ApiProperty({ description: 'Whether a key gets this scope when the request names no scopes' })
  grantedByDefault!: boolean;
}
