import type { Quota } from './answers.js';
import { OPERATIONS } from './generated/operations.js';
import type { Int64Form, Int64Input, Int64Of } from './int64.js';
import type { Operation } from './operation.js';
import { type CheckedOptions, type ClientOptions, checked } from './options.js';
import { PagedList } from './paged-list.js';
import { pageOf } from './pages.js';
import type { Abortable } from './platform.js';
import { type Input, prepare } from './request.js';
import { type Carried, Sender } from './sender.js';
import type {
  AnswerTo,
  CallOptions,
  EntryOf,
  Exchange,
  IdempotentCallOptions,
  InputOf,
  ListId,
  NewPet,
  OperationId,
  OptionalInput,
  QueryOf,
  Schema,
} from './types.js';

/**
 * A client of the Pet Store Service. One for each key: what it learns of quotas and of trouble holds for all its calls. Every method
 * rejects with a PetstoreError when the service refuses, with a ConnectionError when no answer comes, with an UnexpectedResponseError
 * for an answer that is none of the service, with the reason of `signal` when that aborts, and with a TypeError for wrong arguments.
 */
export class PetstoreClient<Form extends Int64Form = 'bigint'> {
  readonly #options: CheckedOptions<Form>;
  readonly #sender: Sender<Form>;
  /** The catalogue of animals. */
  readonly pets: PetsOperations<Form>;
  /** The client that the key belongs to. */
  readonly account: AccountOperations<Form>;

  /** Throws a TypeError that names the option that is wrong. */
  constructor(options: ClientOptions<Form>) {
    this.#options = checked(options);
    this.#sender = new Sender(this.#options);
    this.pets = new PetsOperations(this);
    this.account = new AccountOperations(this);
  }

  /** The limit that applies, as the last answer told it; undefined before the first. */
  get quota(): Quota | undefined {
    return this.#sender.quota;
  }

  /** Calls any operation of the documents by its operationId, such as one of a module of your own. */
  async call<Id extends OperationId>(
    id: Id,
    ...[input, options]: OptionalInput<Id, IdempotentCallOptions>
  ): Promise<AnswerTo<Id, Int64Of<Form>>> {
    const { answer } = await this.#carryOut(id, input, options);
    return answer as AnswerTo<Id, Int64Of<Form>>;
  }

  /** As `call`, with what the headers of the answer tell: the `etag` for an `If-Match`, the `location` of what was created. */
  async exchange<Id extends OperationId>(
    id: Id,
    ...[input, options]: OptionalInput<Id, IdempotentCallOptions>
  ): Promise<Exchange<AnswerTo<Id, Int64Of<Form>>>> {
    const { answer, attempted } = await this.#carryOut(id, input, options);
    const { status, headers } = attempted.response;
    return {
      answer: answer as AnswerTo<Id, Int64Of<Form>>,
      status,
      etag: headers.get('etag') ?? undefined,
      location: headers.get('location') ?? undefined,
      isReplayed: headers.get('idempotent-replayed') === 'true',
    };
  }

  /** Lists what any operation that answers a list has, over all its pages. */
  list<Id extends ListId>(
    id: Id,
    ...[input, options]: OptionalInput<Id, CallOptions>
  ): PagedList<EntryOf<Id, Int64Of<Form>>> {
    const asked = (input ?? {}) as Input;
    return new PagedList<EntryOf<Id, Int64Of<Form>>>(() => {
      const seen = new Set<string>();
      return async (query) =>
        pageOf(await this.#carryOut(id, query === undefined ? asked : { ...asked, query }, options), seen);
    });
  }

  async #carryOut(
    id: OperationId,
    input: Input = {},
    { signal, idempotencyKey }: IdempotentCallOptions = {},
  ): Promise<Carried> {
    if (!Object.hasOwn(OPERATIONS, id)) throw new TypeError(`There is no operation ${id}.`);
    const operation: Operation = OPERATIONS[id];
    const request = prepare(this.#options.root, operation, input, idempotencyKey);
    const listened: unknown = signal;
    return this.#sender.carryOut(operation, request, listened as Abortable | undefined);
  }
}

/** The catalogue of animals. */
export class PetsOperations<Form extends Int64Form> {
  readonly #client: PetstoreClient<Form>;

  /** Made by the client. */
  constructor(client: PetstoreClient<Form>) {
    this.#client = client;
  }

  /** Lists animals in the order of their ids, over all pages; `limit` is the size of a page, 1 to 100. */
  list(query: QueryOf<'listPets'> = {}, options?: CallOptions): PagedList<Schema<'Pet', Int64Of<Form>>> {
    return this.#client.list('listPets', { query }, options);
  }

  /** Adds an animal, once, however often the request has to be sent. */
  create(pet: NewPet, options?: IdempotentCallOptions): Promise<Schema<'Pet', Int64Of<Form>>> {
    return this.#client.call('createPet', { body: pet }, options);
  }

  /**
   * Fetches one animal.
   * @deprecated The operation will be removed on 5 December 2030. Use `list({ status })` instead.
   */
  get(petId: Int64Input, options?: CallOptions): Promise<Schema<'Pet', Int64Of<Form>>> {
    return this.#client.call('getPet', { path: { petId } }, options);
  }
}

/** The client that the key belongs to. */
export class AccountOperations<Form extends Int64Form> {
  readonly #client: PetstoreClient<Form>;
  /** Keys of the own client; they need the scope `account`. */
  readonly keys: KeysOperations<Form>;

  /** Made by the client. */
  constructor(client: PetstoreClient<Form>) {
    this.#client = client;
    this.keys = new KeysOperations(client);
  }

  /** Which client and key this is, with plan, scopes and expiry. */
  get(options?: CallOptions): Promise<Schema<'Account', Int64Of<Form>>> {
    return this.#client.call('getAccount', {}, options);
  }

  /** Both windows as they stand, the last days, banned keys and calls of deprecated operations. */
  usage(
    query: QueryOf<'getAccountUsage'> = {},
    options?: CallOptions,
  ): Promise<Schema<'ClientUsage', Int64Of<Form>>> {
    return this.#client.call('getAccountUsage', { query }, options);
  }
}

/** Keys of the own client. None of what changes them is repeated when no answer comes: look at the list then. */
export class KeysOperations<Form extends Int64Form> {
  readonly #client: PetstoreClient<Form>;

  /** Made by the client. */
  constructor(client: PetstoreClient<Form>) {
    this.#client = client;
  }

  /** Lists keys, over all pages. */
  list(
    query: QueryOf<'listOwnKeys'> = {},
    options?: CallOptions,
  ): PagedList<Schema<'ApiKey', Int64Of<Form>>> {
    return this.#client.list('listOwnKeys', { query }, options);
  }

  /** Shows a key. */
  get(keyId: string, options?: CallOptions): Promise<Schema<'ApiKeyState', Int64Of<Form>>> {
    return this.#client.call('getOwnKey', { path: { keyId } }, options);
  }

  /** Issues a key; its secret is in the answer this once. */
  issue(
    key: InputOf<'issueOwnKey'>['body'],
    options?: CallOptions,
  ): Promise<Schema<'IssuedKey', Int64Of<Form>>> {
    return this.#client.call('issueOwnKey', { body: key }, options);
  }

  /** Labels a key, or brings its end forward. */
  update(
    keyId: string,
    changes: InputOf<'updateOwnKey'>['body'],
    options?: CallOptions,
  ): Promise<Schema<'ApiKey', Int64Of<Form>>> {
    return this.#client.call('updateOwnKey', { path: { keyId }, body: changes }, options);
  }

  /** Issues the successor of a key; its secret is in the answer this once. */
  rotate(
    keyId: string,
    rotation: InputOf<'rotateOwnKey'>['body'] = {},
    options?: CallOptions,
  ): Promise<Schema<'IssuedKey', Int64Of<Form>>> {
    return this.#client.call('rotateOwnKey', { path: { keyId }, body: rotation }, options);
  }

  /** Ends a key at once. */
  revoke(keyId: string, options?: CallOptions): Promise<Schema<'ApiKey', Int64Of<Form>>> {
    return this.#client.call('revokeOwnKey', { path: { keyId } }, options);
  }
}
