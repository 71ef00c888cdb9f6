import type { OPERATIONS } from './generated/operations.js';
import type { components, operations } from './generated/schemas.js';
import type { Int64Input } from './json.js';

/** A type from the OpenAPI documents with 64-bit integers of the type `Int64`. */
type With<Type, Int64> = Type extends bigint
  ? Int64
  : Type extends object
    ? { [Member in keyof Type]: With<Type[Member], Int64> }
    : Type;

/** A schema of the OpenAPI documents by name, with 64-bit integers of the type `Int64`. */
export type Schema<Name extends keyof components['schemas'], Int64 = bigint> = With<
  components['schemas'][Name],
  Int64
>;

/** An animal offered in the store. */
export type Pet<Int64 = bigint> = Schema<'Pet', Int64>;
/** An animal to add. */
export type NewPet = Schema<'NewPet', Int64Input>;
/** Availability of an animal. */
export type PetStatus = Schema<'PetStatus'>;

/** The operationId of a documented operation. */
export type OperationId = keyof operations & keyof typeof OPERATIONS;

type Json<Part> = Part extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** The result of an operation. */
export type DataOf<Id extends OperationId, Int64 = bigint> = With<
  Json<Responses<Id>[keyof Responses<Id>]>,
  Int64
>;

/** The operations that return a list, page by page. */
export type ListId = {
  [Id in OperationId]: DataOf<Id> extends readonly unknown[] ? Id : never;
}[OperationId];

/** An entry of a list. */
export type EntryOf<Id extends ListId, Int64 = bigint> =
  DataOf<Id, Int64> extends readonly (infer Entry)[] ? Entry : never;

type BodyOf<Operation> = Operation extends { requestBody: infer Part }
  ? { readonly body: Json<Part> }
  : Operation extends Record<'parameters', unknown> & { requestBody?: infer Part }
    ? { readonly body?: Json<Part> }
    : never;

/** The input of an operation: `path`, `query`, `header` and `body`, as documented. */
export type InputOf<Id extends OperationId> = Readonly<
  With<operations[Id]['parameters'] & BodyOf<operations[Id]>, Int64Input>
>;

/** The input as an argument, optional if the operation requires none. */
export type OptionalInput<Id extends OperationId, Options> =
  object extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: Options]
    : [input: InputOf<Id>, options?: Options];

/** A page of a list. */
export interface Page<Entry> {
  readonly items: readonly Entry[];
  /**
   * The cursor of the next page; undefined on the last page. Pass it as `cursor` to continue later, which may miss entries that were added
   * at the same time.
   */
  readonly cursor: string | undefined;
}

/**
 * The entries of a list over all its pages. A page is requested only after the entries of the previous one were consumed. Each iteration
 * starts with the first page.
 */
export interface PagedList<Entry> extends AsyncIterable<Entry> {
  pages(): AsyncGenerator<Page<Entry>, void, undefined>;
}

/** A response with its headers. */
export interface Exchange<Data> {
  readonly data: Data;
  readonly status: number;
  /**
   * The entity tag of the returned state as the service sent it, even if a proxy has changed it. Send it as `If-Match` to change only that
   * state.
   */
  readonly etag: string | undefined;
  /** URL of the created resource, relative to that of the request. */
  readonly location: string | undefined;
  /** Whether this is the response to an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call immediately, even while it waits to retry; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that accepts an `Idempotency-Key`. */
export interface IdempotentCallOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Calls with the same key are carried out once. Default: a new key for each call. */
  readonly idempotencyKey?: string | undefined;
}
