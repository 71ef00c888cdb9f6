import { ApiSchema } from '@nestjs/swagger';
import { DurationProperty } from '../../input/duration.js';
import { NamesProperty, TextProperty, UuidParameter } from '../../input/text.js';
import { WithoutApiKey } from './without-api-key.js';

const LABEL = {
  description: 'What people call the key',
  example: 'Web shop',
  maxLength: 255,
  optional: true,
};

/** What a key is made of. */
@ApiSchema({ name: 'NewKey', description: 'A key to issue.' })
export class NewKeyDto {
  @UuidParameter({ description: 'Client that the key belongs to' })
  clientId!: string;

  @NamesProperty({
    description:
      'Scopes of the key, none that the ordering key lacks; default: all but the administrative ones',
    example: ['pets:read'],
  })
  scopes?: string[];

  @TextProperty(LABEL)
  @WithoutApiKey()
  label?: string;

  /** Lifetime in milliseconds. */
  @DurationProperty({ description: 'Lifetime, such as 90d, 12h or 30m; default: no end', example: '90d' })
  expires?: number;
}

/** What can be changed of a key; what is left out stays as it is. */
@ApiSchema({ name: 'KeyChanges', description: 'What to change of a key; what is left out stays as it is.' })
export class KeyChangesDto {
  @TextProperty({ ...LABEL, nullable: true })
  @WithoutApiKey()
  label?: string | null;

  /** In milliseconds. */
  @DurationProperty({
    description: 'How long the key still lives; its end can be brought forward, never put off',
    example: '7d',
  })
  expires?: number;
}

/** How a key is rotated. */
@ApiSchema({ name: 'KeyRotation', description: 'How to rotate a key.' })
export class KeyRotationDto {
  /** In milliseconds. */
  @DurationProperty({
    description: 'How long the old key still lives, never longer than its own end; 0 ends it at once',
    example: '24h',
    default: '24h',
    orZero: true,
  })
  grace!: number;

  /** Lifetime in milliseconds. */
  @DurationProperty({
    description: 'Lifetime of the new key; default: as long as the old one was made for',
    example: '90d',
  })
  expires?: number;
}
