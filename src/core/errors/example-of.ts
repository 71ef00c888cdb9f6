import { ApiError, type ErrorBody, type FaultDetail } from './api-error.js';
import { type ErrorRow, placesOf } from './define-errors.js';

/** What an occurrence of an error is known to have, beside the `example` of its row. */
export interface ExampleOccurrence {
  /** Values of places of the message, such as the scope that one operation needs; they win over those of the row. */
  readonly params?: Readonly<Record<string, string | number>>;
  /** The faults of a `validation_failed`. */
  readonly details?: readonly FaultDetail[] | undefined;
}

/** The body of an error as a client may get it. A place that nothing gives a value for shows its name, such as `<petId>`. */
export function exampleOf(row: ErrorRow, { params, details }: ExampleOccurrence = {}): ErrorBody {
  const named = Object.fromEntries(placesOf(row.message).map((name) => [name, `<${name}>`]));
  const values = { ...named, ...row.example, ...params };
  return new ApiError(row, { params: values, ...(details ? { details } : {}) }).body;
}
