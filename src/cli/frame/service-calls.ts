import type { Type } from '@nestjs/common';
import { Integer } from '../../http/validation/fields.js';
import { ValidationPipe } from '../../http/validation/validation.pipe.js';

const MAX_ROWS = 1_000_000_000;
const pipe = new ValidationPipe();

/** `--limit` of a list. */
export class LimitOption {
  @Integer({ minimum: 1, maximum: MAX_ROWS, default: 100 })
  limit!: number;
}

/** `--count` of rows. */
export class CountOption {
  @Integer({ minimum: 1, maximum: MAX_ROWS, optional: true })
  count?: number;
}

/**
 * Options as an instance of the class that validates the same request over HTTP, read as the text of a query is; options that the
 * class does not have are left out. Throws validation_failed with every fault.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  return (await pipe.transform(options, { type: 'query', metatype })) as T;
}
