/**
 * The positions of 64-bit integers in a value: `int64` for the value itself, the name of a schema, or the shapes of its members, where `*`
 * stands for all other members. `?` means that the value may also have another type.
 */
export type Shape = string | { readonly [member: string]: readonly Shape[] };

/** An operation of the service, from the OpenAPI documents. */
export interface Operation {
  readonly method: string;
  /** The path after the URL of the service, such as `/v1/pets/{petId}`. */
  readonly path: string;
  /** The limits whose 429 delays the operation; it counts toward the first. */
  readonly limits: readonly string[];
  readonly isIdempotent?: true;
  readonly parameters?: readonly Shape[];
  readonly body?: readonly Shape[];
  /** Undefined if it returns no body. */
  readonly response?: readonly Shape[];
  /** Query parameters whose values are joined by commas. */
  readonly commas?: readonly string[];
}
