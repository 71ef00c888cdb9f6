import { digestOf, verifyApiKey } from '../../auth/api-key.format.js';
import { Refusal } from '../../core/refusal.js';
import type { Input } from './operations.js';
import { type Service, read, readList } from './service.js';

/** A client, or another object without a name. */
interface Named {
  readonly id: string;
  readonly name: string;
}

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const CLIENT = /^client(?:Id)?$/;
const KEY = /^(?:key|keyId|actorKey)$/;

/** Whether an input identifies a key, which may be a secret. */
export function isKey({ name, schema }: Input): boolean {
  return schema.format === 'uuid' && KEY.test(name);
}

/**
 * Resolves an input to an id: a client by its name, a key by its prefix or by the key itself, of which only the SHA-256 is sent. Throws
 * Refusal unless there is exactly one match.
 */
export async function idOf(service: Service, input: Input, given: string): Promise<string> {
  const { format, type } = input.schema;
  const isId = format === 'uuid';
  if (isId && ID.test(given)) return given.toLowerCase();
  if (isId && CLIENT.test(input.name)) return (await clientOf(service, given)).id;
  if (isKey(input)) return keyOf(service, given);
  if (input.in === 'path' && (isId || (type === 'integer' && !/^[1-9]\d{0,17}$/.test(given))))
    throw new Refusal(`There is no ${input.name.replace(/Id$/, '')} ${given}.`);
  return given;
}

/** The client with this id or exactly this name. Throws Refusal unless there is exactly one. */
export async function clientOf(service: Service, given: string): Promise<Named> {
  if (ID.test(given))
    return (await read(service, { method: 'get', path: `/clients/${given.toLowerCase()}` })) as Named;
  const sent = { method: 'get', path: '/clients', query: { name: given } };
  const named = (await readList<Named>(service, sent)).entries.filter(({ name }) => name === given);
  return only(named, `clients are called ${given}`, `There is no client ${given}.`);
}

async function keyOf(service: Service, given: string): Promise<string> {
  const verdict = verifyApiKey(given);
  const [, prefix] = /^([a-z][a-z0-9]{1,9}_(?:live|test)_\w{4})…?$/.exec(given) ?? [];
  // The text may be most of a real key, so it is not repeated.
  if (!verdict.wellFormed && prefix === undefined && given.includes('_'))
    throw new Refusal(`This is not a key. ${verdict.reason}`);
  const mark = verdict.wellFormed ? digestOf(given) : prefix;
  const shown = verdict.wellFormed ? 'with this secret' : (prefix ?? given);
  const query = { key: mark };
  const sent = { method: 'get', path: '/keys', query };
  const found = mark === undefined ? [] : (await readList<Named>(service, sent)).entries;
  return only(found, `keys begin with ${shown}`, `There is no key ${shown}.`).id;
}

/** The endpoint of a delivery. Throws Refusal if the delivery does not exist. */
export async function endpointOf(service: Service, delivery: string): Promise<string> {
  const query = { delivery };
  const { entries: found } = await readList<Named>(service, { method: 'get', path: '/webhooks', query });
  const none = `There is no delivery ${delivery}; \`petstore webhook deliveries <endpoint>\` lists them.`;
  return only(found, '', none).id;
}

function only(found: readonly Named[], what: string, none: string): Named {
  const [first, ...others] = found;
  if (!first) throw new Refusal(none);
  if (others.length > 0)
    throw new Refusal(`${found.length} ${what}. Give the id: ${found.map(({ id }) => id).join(', ')}.`);
  return first;
}
