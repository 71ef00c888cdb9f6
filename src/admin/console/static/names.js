// @ts-check
// How clients and keys are called, by their ids: the audit trail has ids alone. Much of it stands in the trail itself; for the rest
// little is asked at a time, and what is refused is asked for again by the next refresh.
import { Refusal, ask } from './admin-api.js';

/** How many are asked for one by one at a time. */
const AT_A_TIME = 5;
/** From so many unknown clients on, a page of the list of all is asked for instead. */
const WORTH_A_LIST = 3;

/** @typedef {{ name: string | undefined, isGone: boolean }} KnownClient */
/** @typedef {{ name: string, clientId: string }} KnownKey null where there is none any more */

/** @type {Map<string, KnownClient>} */
const clients = new Map();
/** @type {Map<string, KnownKey | null>} */
const keys = new Map();
let wasListed = false;
/** The latest change that names were learned from. */
let learned = -1n;

/** Forgets all names: something may have been renamed. */
export function forgetNames() {
  clients.clear();
  keys.clear();
  wasListed = false;
  learned = -1n;
}

/** Undefined as long as it is not known. @param {string} id */
export function clientOf(id) {
  return clients.get(id);
}

/** Undefined as long as it is not known. @param {string} id */
export function keyOf(id) {
  return keys.get(id);
}

/** Learns the names that stand in changes, of which the latest is right. @param {readonly any[]} entries latest first */
export function learnFrom(entries) {
  const before = learned;
  for (const { id, clientId, action, details } of entries.toReversed()) {
    const isNew = BigInt(id) > before;
    if (BigInt(id) > learned) learned = BigInt(id);
    if (clientId === null || (!isNew && clients.has(clientId))) continue;
    const told = action === 'client.updated' ? details.name?.to : details.name;
    const isOfClient = action.startsWith('client.') && typeof told === 'string';
    const isGone = action === 'client.deleted';
    if (isOfClient || isGone)
      clients.set(clientId, { name: isOfClient ? told : clients.get(clientId)?.name, isGone });
  }
}

/**
 * Asks for names that are not known, a few at a time. Throws Refusal.
 * @param {ReadonlySet<string>} clientIds
 * @param {ReadonlySet<string>} keyIds
 * @param {AbortSignal} signal
 */
export async function learnNames(clientIds, keyIds, signal) {
  let left = AT_A_TIME;
  for (const id of keyIds) {
    if (keys.has(id) || left === 0) continue;
    left -= 1;
    const key = await found(`keys/${id}`, {}, 'key_not_found', signal);
    keys.set(id, key && { name: key.label ?? `${key.prefix}…`, clientId: key.clientId });
  }
  const owners = [...keyIds].flatMap((id) => keys.get(id)?.clientId ?? []);
  const wanted = [...new Set([...clientIds, ...owners])];
  const unknown = () => wanted.filter((id) => !clients.has(id));
  if (unknown().length >= WORTH_A_LIST && !wasListed) await learnList(unknown(), signal);
  for (const id of unknown().slice(0, left)) {
    const client = await found(`clients/${id}`, { days: 1 }, 'client_not_found', signal);
    clients.set(id, { name: client?.name, isGone: client === null });
  }
}

/** @param {readonly string[]} unknown @param {AbortSignal} signal */
async function learnList(unknown, signal) {
  const { body, next } = await ask('GET', 'clients', { query: { limit: 100 }, signal });
  wasListed = true;
  for (const { id, name } of body) clients.set(id, { name, isGone: false });
  // The list is whole: who is not in it is no more.
  if (next === undefined)
    for (const id of unknown) if (!clients.has(id)) clients.set(id, { name: undefined, isGone: true });
}

/**
 * What is there, or null when the service says that it is not.
 * @param {string} path
 * @param {Record<string, number>} query
 * @param {string} absent the code that says so
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
async function found(path, query, absent, signal) {
  try {
    return (await ask('GET', path, { query, signal })).body;
  } catch (error) {
    if (error instanceof Refusal && error.is(absent)) return null;
    throw error;
  }
}
