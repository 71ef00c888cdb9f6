import type { Shape } from './json/shape.js';

/** One operation of the service, as the table that the OpenAPI documents make has it. */
export interface Operation {
  readonly method: string;
  /** From where the address of the service ends, such as `/v1/pets/{petId}`. */
  readonly path: string;
  /** Whether it takes an `Idempotency-Key`. */
  readonly isIdempotent: boolean;
  /** The bounds whose refusals hold it back; the first is the one that it counts for. */
  readonly heldBackBy: readonly string[];
  /** Parameters that are integers of 64 bits. */
  readonly int64Parameters: readonly string[];
  /** Parameters of the query of which several values are one text, separated by commas. */
  readonly commaParameters: readonly string[];
  /** Headers that it takes, such as `If-Match`. */
  readonly headerParameters: readonly string[];
  /** Where its body holds integers of 64 bits. */
  readonly body: Shape | null;
  /** Whether it answers a body. */
  readonly hasAnswer: boolean;
  /** Where its answer holds integers of 64 bits. */
  readonly answer: Shape | null;
}
