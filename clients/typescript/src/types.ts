import type { OPERATIONS } from './generated/operations.js';
import type { components, operations } from './generated/schemas.js';
import type { Int64Input } from './json.js';

/** A type of the documents whose 64-bit integers are of the type `Int64`. */
type With<Type, Int64> = Type extends bigint
  ? Int64
  : Type extends object
    ? { [Member in keyof Type]: With<Type[Member], Int64> }
    : Type;

/** A schema of the documents by its name; its 64-bit integers are of the type `Int64`. */
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

/** The operationId of an operation that can be called. */
export type OperationId = keyof operations & keyof typeof OPERATIONS;

type Json<Part> = Part extends { content: { 'application/json': infer Body } } ? Body : undefined;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** What an operation returns. */
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

/** What an operation takes: `path`, `query`, `header` and `body`, as the document has them. */
export type InputOf<Id extends OperationId> = Readonly<
  With<operations[Id]['parameters'] & BodyOf<operations[Id]>, Int64Input>
>;

/** Input that may be left out where the operation needs none. */
export type OptionalInput<Id extends OperationId, Options> =
  object extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: Options]
    : [input: InputOf<Id>, options?: Options];

/** A page of a list. */
export interface Page<Entry> {
  readonly items: readonly Entry[];
  /** Where the next page begins: pass it as `cursor` to continue later, which may miss entries that were added at the same time. Undefined on the last page. */
  readonly cursor: string | undefined;
}

/** The entries of a list over all its pages. A page is requested when the previous one is used up; each iteration starts again. */
export interface PagedList<Entry> extends AsyncIterable<Entry> {
  pages(): AsyncGenerator<Page<Entry>, void, undefined>;
}

/** A response with its headers. */
export interface Exchange<Data> {
  readonly data: Data;
  readonly status: number;
  /**
   * Names the returned state, as the service sent it, whatever a proxy has made of it: send it as `If-Match` to change that state and no
   * other.
   */
  readonly etag: string | undefined;
  /** Address of what was created, relative to that of the request. */
  readonly location: string | undefined;
  /** Whether this is the response to an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call at once, also while it waits to retry; it then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of one call that may have an `Idempotency-Key`. */
export interface IdempotentCallOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters: the same for all calls that are to happen once. Default: another for every call. */
  readonly idempotencyKey?: string | undefined;
}
