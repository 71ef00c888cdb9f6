import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiKeyStateDto } from '../../admin/dto/api-key.dto.js';
import { ClientDto } from '../../admin/dto/client.dto.js';

/** The sender of a request. */
@ApiSchema({ name: 'Account', description: 'The client, and the key that was sent.' })
export class AccountDto {
  @ApiProperty({ type: ClientDto, description: 'The client with its plan and limits' })
  client!: ClientDto;

  @ApiProperty({ type: ApiKeyStateDto, description: 'The key of this request' })
  key!: ApiKeyStateDto;
}
