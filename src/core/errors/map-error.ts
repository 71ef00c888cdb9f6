import { Logger } from '@nestjs/common';
import type { ApiError } from './api-error.js';

type ErrorClass<Thrown> = abstract new (...args: never[]) => Thrown;
type Mapping = (thrown: object) => ApiError | undefined;

const mappings = new Map<unknown, Mapping[]>();
const logger = new Logger('Errors');

/**
 * Declares how exceptions of a class, and of its subclasses, are answered: `mapError(OutOfStock, ({ sku }) => new
 * ApiError(SHOP_ERRORS.out_of_stock, { params: { sku } }))`. It holds for the whole service, beside defineErrors(). `map` may
 * answer undefined for what it does not know: then an earlier mapping of the class is asked, then those of its superclasses, and
 * in the end the platform answers as without any. It is not asked for an `ApiError`, which has its row already.
 */
export function mapError<Thrown extends object>(
  thrown: ErrorClass<Thrown>,
  map: (thrown: Thrown) => ApiError | undefined,
): void {
  mappings.set(thrown, [map as Mapping, ...(mappings.get(thrown) ?? [])]);
}

/** What is answered instead of whatever was thrown; undefined when no mapping knows it. */
export function mappedError(thrown: unknown): ApiError | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  for (let at: unknown = Object.getPrototypeOf(thrown); at !== null; at = Object.getPrototypeOf(at)) {
    for (const map of mappings.get((at as object).constructor) ?? []) {
      const error = resultOf(map, thrown);
      if (error) return error;
    }
  }
  return undefined;
}

/** A mapping that fails must not hide what it was to map. */
function resultOf(map: Mapping, thrown: object): ApiError | undefined {
  try {
    return map(thrown);
  } catch (error) {
    logger.error('A mapping of mapError() failed', error instanceof Error ? error.stack : String(error));
    return undefined;
  }
}
