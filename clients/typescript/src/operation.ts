/**
 * Where a value holds 64-bit integers: `int64` for itself, the name of a schema, or its members, where `*` are all others. `?` says that
 * the value may also be something else.
 */
export type Shape = string | { readonly [member: string]: readonly Shape[] };

/** One operation of the service, by the OpenAPI documents. */
export interface Operation {
  readonly method: string;
  /** From where the address of the service ends, such as `/v1/pets/{petId}`. */
  readonly path: string;
  /** The limits whose 429 holds it back; the first is the one that it counts for. */
  readonly bounds: readonly string[];
  readonly isIdempotent?: true;
  readonly parameters?: readonly Shape[];
  readonly body?: readonly Shape[];
  /** Undefined where it returns no body. */
  readonly response?: readonly Shape[];
  /** Query parameters whose values are joined by commas. */
  readonly commas?: readonly string[];
}
