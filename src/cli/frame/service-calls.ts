import type { INestApplication, Type } from '@nestjs/common';
import { CLIENTS_ERRORS } from '../../auth/clients/clients.errors.js';
import { verifyApiKey } from '../../auth/api-key.format.js';
import type { ApiKey } from '../../auth/clients/api-key.entity.js';
import { ApiKeysService } from '../../auth/clients/api-keys.service.js';
import type { Client } from '../../auth/clients/client.entity.js';
import { ClientsService } from '../../auth/clients/clients.service.js';
import { ApiError } from '../../core/errors/api-error.js';
import type { Page, PageRequest } from '../../database/keyset-page.js';
import { Integer } from '../../http/validation/fields.js';
import { ValidationPipe } from '../../http/validation/validation.pipe.js';
import type { Call } from './call.js';
import { Refusal } from '../../core/refusal.js';

const PAGE_SIZE = 500;
const MOST_ROWS = 1_000_000_000;
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const pipe = new ValidationPipe();

/** `--limit` of a list. */
export class LimitOption {
  @Integer({ minimum: 1, maximum: MOST_ROWS, default: 100 })
  limit!: number;
}

/** `--count` of rows. */
export class CountOption {
  @Integer({ minimum: 1, maximum: MOST_ROWS, optional: true })
  count?: number;
}

/**
 * Options as an instance of the class that validates the same request over HTTP, read as the text of a query is; options that the
 * class does not have are left out. Throws validation_failed with every fault.
 */
export async function inputOf<T extends object>(metatype: Type<T>, options: object): Promise<T> {
  return (await pipe.transform(options, { type: 'query', metatype })) as T;
}

/** The first rows of a list, or all of them, read page by page. */
export async function everyPage<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const rows: T[] = [];
  let page: Page<T> | undefined;
  do {
    const limit = Math.min(PAGE_SIZE, most - rows.length);
    page = await list(page?.next ? { limit, after: page.next } : { limit });
    rows.push(...page.items);
  } while (page.next && rows.length < most);
  return rows;
}

/** The client with this id, in either case, or with exactly this name. Throws client_not_found, and Refusal where several have it. */
export async function clientOf(app: INestApplication, idOrName: string): Promise<Client> {
  const clients = app.get(ClientsService);
  if (ID.test(idOrName)) return clients.get(idOrName.toLowerCase());
  const holding = await everyPage((page) => clients.list(page, { name: idOrName }));
  const named = holding.filter(({ name }) => name === idOrName);
  return only(named, `clients are called ${idOrName}`) ?? clients.get(idOrName);
}

/** The filter of a list by `--client`. */
export async function ofClient(app: INestApplication, { options }: Call): Promise<{ clientId?: string }> {
  const clientId = await clientIdOf(app, options.client);
  return clientId === undefined ? {} : { clientId };
}

/** The id of a client, also of one that was deleted; undefined for no text. */
export async function clientIdOf(app: INestApplication, idOrName?: string): Promise<string | undefined> {
  if (idOrName === undefined || ID.test(idOrName)) return idOrName?.toLowerCase();
  return (await clientOf(app, idOrName)).id;
}

/**
 * The key with this id, in either case, with this beginning as lists show it, or that is this text: of a key that leaked, that is
 * often all that is known. Throws key_not_found, and Refusal for a malformed key.
 */
export async function keyOf(app: INestApplication, given: string): Promise<ApiKey> {
  const keys = app.get(ApiKeysService);
  const verdict = verifyApiKey(given);
  if (verdict.wellFormed) return keys.identify(given);
  const [, prefix] = /^([a-z][a-z0-9]{1,9}_(?:live|test)_\w{4})…?$/.exec(given) ?? [];
  if (prefix !== undefined) {
    const found = await everyPage((page) => keys.list(page, { prefix }));
    const key = only(found, `keys begin with ${prefix}`);
    if (key) return key;
    throw new ApiError(CLIENTS_ERRORS.key_not_found, { params: { id: prefix } });
  }
  // The text may be most of a real key, so it is not repeated.
  if (given.includes('_')) throw new Refusal(`This is not a key. ${verdict.reason}`);
  return keys.get(ID.test(given) ? given.toLowerCase() : given);
}

/** The id of a key, also of one whose client was deleted; undefined for no text. */
export async function keyIdOf(app: INestApplication, given?: string): Promise<string | undefined> {
  if (given === undefined || ID.test(given)) return given?.toLowerCase();
  return (await keyOf(app, given)).id;
}

/** The only one of those that were found; undefined for none. */
function only<T extends { readonly id: string }>(found: readonly T[], what: string): T | undefined {
  if (found.length > 1)
    throw new Refusal(`${found.length} ${what}. Give the id: ${found.map(({ id }) => id).join(', ')}.`);
  return found[0];
}
