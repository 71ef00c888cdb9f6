import type { Type } from '@nestjs/common';
import { ValidationPipe } from '../input/validation.pipe.js';

const pipe = new ValidationPipe();

/**
 * What a command was given, as the class that a request body is validated by: both faces have the same rules and the
 * same words. Options left out are left out. Throws validation_failed with every fault.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return (await pipe.transform(given, { type: 'body', metatype })) as T;
}
