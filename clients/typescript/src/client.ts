import createClient from 'openapi-fetch';
import { UnexpectedResponseError } from './errors.js';
import { OPERATIONS } from './generated/operations.js';
import { type Int64Form, type Int64Input, type Int64Of, readJson, withInt64, writeJson } from './json.js';
import type { Operation } from './operation.js';
import { type CheckedOptions, type ClientOptions, checked } from './options.js';
import { type Quota, isJson, linkTarget, tagOf } from './responses.js';
import { Sender } from './sender.js';
import type * as T from './types.js';

const USER_AGENT = 'petstore-service-client/1.0.0';

type Values = Readonly<Record<string, unknown>>;
type Input = { readonly [Part in 'path' | 'query' | 'header']?: Values } & { readonly body?: unknown };
interface AnyOperation {
  parameters: object;
  requestBody?: { content: { 'application/json': unknown } };
  responses: object;
}

/** A client of the Pet Store Service: one for each key. Its methods reject with a TypeError for wrong arguments. */
export class PetstoreClient<Form extends Int64Form = 'bigint'> {
  readonly #options: CheckedOptions;
  readonly #sender: Sender;
  readonly #http;

  /** Throws a TypeError that names the invalid option. */
  constructor(options: ClientOptions<Form>) {
    this.#options = checked(options);
    this.#sender = new Sender(this.#options);
    this.#http = createClient<Record<string, Record<'get', AnyOperation>>>({
      baseUrl: this.#options.root,
      pathSerializer: pathOf,
      // In pages of other origins, CORS would block a User-Agent.
      headers: { Accept: 'application/json', ...('self' in globalThis ? {} : { 'User-Agent': USER_AGENT }) },
    });
  }

  /** The limit according to the last response; undefined before the first one. */
  get quota(): Quota | undefined {
    return this.#sender.quota;
  }

  /** The catalogue of animals. */
  readonly pets = {
    /** Lists animals in the order of their ids, over all pages; `limit` is the size of a page, 1 to 100. */
    list: (query: T.InputOf<'listPets'>['query'] = {}, options?: T.CallOptions) =>
      this.list('listPets', { query }, options),
    /** Adds an animal exactly once, even if the request has to be retried. */
    create: (body: T.NewPet, options?: T.IdempotentCallOptions) => this.call('createPet', { body }, options),
    /**
     * Fetches one animal.
     * @deprecated The operation will be removed on 5 December 2030. Use `list({ status })` instead.
     */
    get: (petId: Int64Input, options?: T.CallOptions) => this.call('getPet', { path: { petId } }, options),
  };

  /**
   * Calls any documented operation by its operationId, such as `getAccount` or an operation of your own module. A call that changes
   * something without an `Idempotency-Key` is not retried if no response arrives.
   */
  async call<Id extends T.OperationId>(
    id: Id,
    ...args: T.OptionalInput<Id, T.IdempotentCallOptions>
  ): Promise<T.DataOf<Id, Int64Of<Form>>> {
    return (await this.exchange(id, ...args)).data;
  }

  /** Like `call`, but also returns the response headers, such as the `etag` for an `If-Match` or the `location` of the created resource. */
  async exchange<Id extends T.OperationId>(
    id: Id,
    ...[input, options]: T.OptionalInput<Id, T.IdempotentCallOptions>
  ): Promise<T.Exchange<T.DataOf<Id, Int64Of<Form>>>> {
    const { data, response } = await this.#carryOut(id, input, options);
    const { status, headers } = response;
    return {
      data: data as T.DataOf<Id, Int64Of<Form>>,
      status,
      etag: tagOf(headers),
      location: headers.get('location') ?? undefined,
      isReplayed: headers.get('idempotent-replayed') === 'true',
    };
  }

  /** Lists the entries of any operation that returns a list, over all pages. */
  list<Id extends T.ListId>(
    id: Id,
    ...[input, options]: T.OptionalInput<Id, T.CallOptions>
  ): T.PagedList<T.EntryOf<Id, Int64Of<Form>>> {
    const pages = async function* (this: PetstoreClient<Form>) {
      let search: string | undefined;
      do {
        const { data, response, unexpected } = await this.#carryOut(id, input, options, search);
        if (!Array.isArray(data)) throw unexpected('a body that is not a list');
        const next = linkTarget(response.headers, 'next', this.#options.root);
        const isLinked = next !== undefined || /;\s*rel="next"/.test(response.headers.get('link') ?? '');
        if (isLinked && (next?.search ?? search) === search)
          throw unexpected('an invalid link to the next page');
        const items = data as T.EntryOf<Id, Int64Of<Form>>[];
        yield { items, cursor: next?.searchParams.get('cursor') ?? undefined };
        search = next?.search;
      } while (search !== undefined);
    }.bind(this);
    const entries = async function* () {
      for await (const { items } of pages()) yield* items;
    };
    return { pages, [Symbol.asyncIterator]: entries };
  }

  async #carryOut(
    id: T.OperationId,
    input: Input = {},
    { signal, idempotencyKey }: T.IdempotentCallOptions = {},
    search?: string,
  ) {
    if (!Object.hasOwn(OPERATIONS, id)) throw new TypeError(`There is no operation ${id}.`);
    const operation: Operation = OPERATIONS[id];
    const { method, path, isIdempotent, parameters = [], commas = [], body: shapes = [] } = operation;
    if (idempotencyKey !== undefined && !(isIdempotent && /^[!-~]{1,255}$/.test(idempotencyKey)))
      throw new TypeError(
        'idempotencyKey must be 1 to 255 visible ASCII characters, for an operation that accepts one.',
      );
    const exact = (values: Values = {}) => withInt64(values, parameters) as Record<string, unknown>;
    const query = exact(input.query);
    for (const name of commas) if (Array.isArray(query[name])) query[name] = query[name].join(',');
    const { data: received, response } = await this.#http.request(method as 'get', path, {
      params: { path: exact(input.path), query, header: exact(input.header) },
      headers: isIdempotent ? { 'Idempotency-Key': idempotencyKey ?? randomKey() } : {},
      body: input.body,
      bodySerializer: (body) => writeJson(body, shapes),
      fetch: (request) => this.#sender.send(request, operation, signal),
      parseAs: 'text',
      // Only the query of a Link is used, so that no response can redirect the client, with its key, to another server.
      ...(search === undefined ? {} : { querySerializer: () => search }),
    });
    const text = received ?? '';
    const unexpected = (what: string) =>
      new UnexpectedResponseError(`${method} ${path} got ${response.status} with ${what}.`, response, text);
    if (operation.response === undefined) return { data: undefined, response, unexpected };
    if (!isJson(response)) throw unexpected('a body that is not JSON');
    try {
      const data = readJson(text, operation.response, this.#options.form);
      if (data !== null) return { data, response, unexpected };
    } catch (cause) {
      throw unexpected(`a body that cannot be read (${String(cause)})`);
    }
    throw unexpected('null');
  }
}

/** Fills in the parameters of a path. Throws for a value that would change the path, such as `..`. */
function pathOf(path: string, values: Values): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String((values[name] as string | bigint | undefined) ?? '');
    if (['', '.', '..'].includes(value)) throw new TypeError(`${name} must not be empty, "." or "..".`);
    return encodeURIComponent(value);
  });
}

/** 128 random bits. crypto.randomUUID() is unavailable in pages that were not loaded over TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
