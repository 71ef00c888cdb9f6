import { partialPrefixOf, digestOf, verifyApiKey } from '../../auth/api-key.format.js';
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
const BY_NAME =
  'Give the exact name, which is case-sensitive, or the id. `petstore client list --name <text>` lists the names that contain a text.';
const BY_PREFIX =
  'Use the first characters of a key, such as pst_live_4fTz, or its id. A key cannot be found by its last characters.';
const KEY = /^(?:key|keyId|actorKey)$/;

/** Whether an input identifies a key, which may be a secret. */
export function isKey({ name, schema }: Input): boolean {
  return schema.format === 'uuid' && KEY.test(name);
}

/**
 * Resolves an input to an id: a client by its name, a key by its first characters or by the key itself, of which only the SHA-256 is sent.
 * Throws Refusal unless there is exactly one match.
 */
export async function idOf(service: Service, input: Input, value: string): Promise<string> {
  const { format, type } = input.schema;
  const isId = format === 'uuid';
  if (isId && ID.test(value)) return value.toLowerCase();
  if (isId && CLIENT.test(input.name)) return (await clientOf(service, value)).id;
  if (isKey(input)) return keyOf(service, value);
  if (input.in === 'path' && (isId || (type === 'integer' && !/^[1-9]\d{0,17}$/.test(value))))
    throw new Refusal(`There is no ${input.name.replace(/Id$/, '')} ${value}.`);
  return value;
}

/** The client with this id or exactly this name. Throws Refusal unless there is exactly one. */
export async function clientOf(service: Service, value: string): Promise<Named> {
  if (ID.test(value))
    return (await read(service, { method: 'get', path: `/clients/${value.toLowerCase()}` })) as Named;
  const sent = { method: 'get', path: '/clients', query: { name: value } };
  const named = (await readList<Named>(service, sent)).entries.filter(({ name }) => name === value);
  const none = `There is no client ${value}. ${BY_NAME}`;
  return only(named, `clients are called ${value}`, none);
}

async function keyOf(service: Service, value: string): Promise<string> {
  const verdict = verifyApiKey(value);
  // Only the visible part of a key is sent and repeated, because the text may be most of a real key.
  const partial = partialPrefixOf(value);
  if (!verdict.wellFormed && partial === undefined)
    throw new Refusal(`This is not a key. ${value.includes('_') ? verdict.reason : BY_PREFIX}`);
  const query = { key: verdict.wellFormed ? digestOf(value) : partial };
  const { entries: found } = await readList<Named>(service, { method: 'get', path: '/keys', query });
  const none = verdict.wellFormed ? 'with this secret.' : `that begins with ${partial}. ${BY_PREFIX}`;
  return only(found, `keys begin with ${partial}`, `There is no key ${none}`).id;
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
