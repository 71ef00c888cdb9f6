import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** A scope that keys can hold, over HTTP. */
@ApiSchema({ name: 'Scope', description: 'A right that a key can hold.' })
export class ScopeDto {
  @ApiProperty({ type: 'string', example: 'pets:read' })
  name!: string;

  @ApiProperty({ type: 'string', description: 'What it allows', example: 'List and show animals.' })
  description!: string;

  @ApiProperty({ description: 'Whether a key gets it when its order names no scopes' })
  grantedByDefault!: boolean;
}
