import { ApiSchema } from '@nestjs/swagger';
import { WithoutApiKey } from './without-api-key.js';
import { Duration, Names, Text, Uuid } from '../../input/fields.js';

const LABEL = {
  description: 'What people call the key',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** What a key is made of. */
@ApiSchema({ name: 'NewKey', description: 'A key to issue.' })
export class NewKeyDto {
  @Uuid({ description: 'Client that the key belongs to' })
  clientId!: string;

  @Names({
    description:
      'Scopes of the key, none that the ordering key lacks; default: all but the administrative ones',
    example: ['pets:read'],
    optional: true,
  })
  scopes?: string[];

  @Text(LABEL)
  @WithoutApiKey()
  label?: string;

  /** Lifetime in milliseconds. */
  @Duration({
    description: 'Lifetime, such as 90d, 12h or 30m; default: no end',
    example: '90d',
    optional: true,
  })
  expires?: number;
}

/** What can be changed of a key; what is left out stays as it is. */
@ApiSchema({ name: 'KeyChanges', description: 'What to change of a key; what is left out stays as it is.' })
export class KeyChangesDto {
  @Text({ nullable: true, ...LABEL })
  @WithoutApiKey()
  label?: string | null;

  /** In milliseconds. */
  @Duration({
    description: 'How long the key still lives; its end can be brought forward, never put off',
    example: '7d',
    optional: true,
  })
  expires?: number;
}

/** How a key is rotated. */
@ApiSchema({ name: 'KeyRotation', description: 'How to rotate a key.' })
export class KeyRotationDto {
  /** In milliseconds. */
  @Duration({
    description: 'How long the old key still lives, never longer than its own end; 0 ends it at once',
    example: '24h',
    default: '24h',
    orZero: true,
  })
  grace!: number;

  /** Lifetime in milliseconds. */
  @Duration({
    description: 'Lifetime of the new key; default: as long as the old one was made for',
    example: '90d',
    optional: true,
  })
  expires?: number;
}
