import type { Type } from '@nestjs/common';
import { Integer } from '../../http/validation/fields.js';
import { ValidationPipe } from '../../http/validation/validation.pipe.js';

const MAX_ROWS = 1_000_000_000;
const pipe = new ValidationPipe();

/** The option `--limit`. */
export class LimitOption {
  @Integer({ minimum: 1, maximum: MAX_ROWS, default: 100 })
  limit!: number;
}

/** The option `--count`. */
export class CountOption {
  @Integer({ minimum: 1, maximum: MAX_ROWS, optional: true })
  count?: number;
}

/**
 * Validates options with the class that validates the same request over HTTP, parsed like query parameters. Options that the class does not
 * have are omitted. Throws validation_failed with all errors.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  return (await pipe.transform(options, { type: 'query', metatype })) as T;
}
