import type { OPERATIONS } from './generated/operations.js';
import type { components, operations } from './generated/schemas.js';
import type { Int64Input } from './int64.js';
import type { Abortable } from './platform.js';

/** A schema of the documents by its name; integers of 64 bits in it are of the type `Int64`. */
export type Schema<
  Name extends keyof components<Int64>['schemas'],
  Int64 = bigint,
> = components<Int64>['schemas'][Name];

/** An animal offered in the store. */
export type Pet<Int64 = bigint> = Schema<'Pet', Int64>;
/** An animal to add. */
export type NewPet = Schema<'NewPet', Int64Input>;
/** Availability of an animal. */
export type PetStatus = Schema<'PetStatus'>;

/** The operationId of an operation that can be called. */
export type OperationId = keyof operations<bigint> & keyof typeof OPERATIONS;

type Succeeded<Response> = Response extends { content: { 'application/json': infer Body } }
  ? Body
  : undefined;
type Responses<Id extends OperationId, Int64> = operations<Int64>[Id]['responses'];

/** What an operation answers. */
export type AnswerTo<Id extends OperationId, Int64 = bigint> = Succeeded<
  Responses<Id, Int64>[keyof Responses<Id, Int64>]
>;

/** The operations that answer a list, page by page. */
export type ListId = {
  [Id in OperationId]: AnswerTo<Id> extends readonly unknown[] ? Id : never;
}[OperationId];

/** An entry of what a list answers. */
export type EntryOf<Id extends ListId, Int64 = bigint> =
  AnswerTo<Id, Int64> extends readonly (infer Entry)[] ? Entry : never;

type BodyOf<Asked extends { requestBody?: unknown }> = [NonNullable<Asked['requestBody']>] extends [never]
  ? { readonly body?: never }
  : Asked extends { requestBody: { content: { 'application/json': infer Body } } }
    ? { readonly body: Body }
    : Asked extends { requestBody?: { content: { 'application/json': infer Body } } }
      ? { readonly body?: Body }
      : never;

/** What an operation takes: `path`, `query`, `header` and `body`, as the document has them. */
export type InputOf<Id extends OperationId> = Readonly<
  Pick<operations<Int64Input>[Id]['parameters'], 'path' | 'query' | 'header'>
> &
  BodyOf<operations<Int64Input>[Id]>;

/** The query of an operation. */
export type QueryOf<Id extends OperationId> = NonNullable<InputOf<Id>['query']>;

/** Input that may be left out where the operation needs none. */
export type OptionalInput<Id extends OperationId, Options> =
  object extends InputOf<Id>
    ? [input?: InputOf<Id>, options?: Options]
    : [input: InputOf<Id>, options?: Options];

/** The type of `AbortSignal` of the platform, where its types are known. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } }
  ? Known
  : Abortable;

/** An answer with what its headers tell. */
export interface Exchange<Answer> {
  /** What the operation answered. */
  readonly answer: Answer;
  /** The HTTP status, from 200 to 299. */
  readonly status: number;
  /** Names the state that was answered: send it as `If-Match` to change that state and no other. */
  readonly etag: string | undefined;
  /** Address of what was created, relative to that of the request. */
  readonly location: string | undefined;
  /** Whether this is the answer to an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the call at once, also while it waits to try again; it then rejects with the reason of the signal. */
  readonly signal?: Signal | undefined;
}

/** Options of one call that may have an `Idempotency-Key`. */
export interface IdempotentCallOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters: the same one for everything that is to happen once. Default: one of its own for every call. */
  readonly idempotencyKey?: string | undefined;
}
