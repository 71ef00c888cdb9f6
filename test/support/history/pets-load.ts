import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Caller, Received, Way } from './caller.js';
import type { HowChanged } from './sessions.js';
import { type ListOfPets, now, petValue } from './history.js';

const STATUSES = ['available', 'pending', 'sold'] as const;
/** Number of animals per writer, small enough that those of all writers fit on one page. */
const MAX_OF_WRITER = 7;
const PAGE = 100;
const RETRY_MS = 100;
const CHANGES = ['add', 'add', 'at once', 'at once', 'late', 'undone', 'delete'] as const;

/** An animal in a response. */
interface Pet {
  readonly id: number;
  readonly status: string;
  readonly name: string;
  readonly categoryId: number;
}

/** State that is shared by all writers and readers of animals. */
export class Pets {
  /** Ids of the newest animals. */
  readonly newest: number[] = [];
  private made = 0;

  /** The values of a new animal with a unique name. */
  next(caller: Caller): Omit<Pet, 'id'> {
    this.made += 1;
    return { status: caller.random.pick(STATUSES), name: `history-${this.made}`, categoryId: this.made };
  }
}

/** A client that adds, changes and deletes its own animals, over HTTP and in the database, and reads after each change. */
export function petsWriter(caller: Caller, pets: Pets): () => Promise<void> {
  const { random, session } = caller;
  const own: Pet[] = [];
  const readList = listReader(caller);
  /**
   * Statements that delete animals whose write was not acknowledged. The write may still be executed later, so nothing else changes them.
   */
  const litter: string[] = [];

  async function add(): Promise<void> {
    const pet = pets.next(caller);
    const start = now();
    const added = await addPet(caller, pet, random.pick([randomUUID(), undefined]));
    if (added?.status !== 201) {
      litter.push(`DELETE FROM pets WHERE name = '${pet.name}'`);
      return;
    }
    const { id } = JSON.parse(added.text) as Pet;
    caller.wrote(`pet:${id}`, petValue(pet), start, added);
    own.push({ ...pet, id });
    pets.newest.unshift(id);
    pets.newest.length = Math.min(pets.newest.length, 50);
  }

  /** Sends a request to the instance that has the operations that change animals. */
  const request = (method: string, id: number, json?: unknown): Way => ({
    via: 'http',
    sent: { method, path: `/v1/pets/${id}`, json, allowed: [200, 204] },
    on: caller.deployment.instances.length - 1,
  });

  async function remove({ id }: Pet): Promise<void> {
    const statement = `DELETE FROM pets WHERE id = ${id}`;
    const ways: Way[] = [{ via: 'sql', statement }, request('DELETE', id)];
    if (!(await caller.change(`pet:${id}`, undefined, ...ways))) litter.push(statement);
  }

  async function update(pet: Pet, how: HowChanged): Promise<void> {
    const { name, status } = pets.next(caller);
    const changed = { ...pet, name, status };
    const statement = `UPDATE pets SET name = '${name}', status = '${status}' WHERE id = ${pet.id}`;
    if (how === 'undone') {
      await session.change(statement, how, random.between(0, 200));
      own.push(pet);
      return;
    }
    const ways: Way[] = [{ via: 'sql', statement, how }, request('PATCH', pet.id, { name, status })];
    if (await caller.change(`pet:${pet.id}`, petValue(changed), ...ways)) own.push(changed);
    else await remove(pet);
  }

  return async () => {
    const [left] = litter;
    if (left !== undefined && (await session.change(left, 'at once', 0))) litter.shift();
    const change = own.length < MAX_OF_WRITER ? random.pick(CHANGES) : 'delete';
    const [pet] = change === 'add' ? [] : own.splice(Math.floor(random.between(0, own.length)), 1);
    if (pet === undefined || change === 'add') await add();
    else if (change === 'delete') await remove(pet);
    else await update(pet, change);
    await Promise.all(caller.deployment.instances.map((_, on) => readList(undefined, on)));
    await pause(random.between(50, 300));
  };
}

/** A client that reads lists and single animals, some of them with conditional requests. */
export function petsReader(caller: Caller, pets: Pets): () => Promise<void> {
  const { random } = caller;
  const readList = listReader(caller);

  async function readOne(id: number): Promise<void> {
    const path = `/v1/pets/${id}`;
    const one = await caller.send({ path, allowed: [200, 404] });
    if (one.status === 404) caller.saw(`pet:${id}`, undefined, one, `GET ${path}`);
    if (one.status === 200)
      caller.saw(`pet:${id}`, petValue(JSON.parse(one.text) as Pet), one, `GET ${path}`);
  }

  return async () => {
    const id = pets.newest[Math.floor(random.between(0, pets.newest.length * 3))];
    await (id === undefined ? readList(random.pick([undefined, ...STATUSES])) : readOne(id));
    await pause(random.between(50, 400));
  };
}

/** Reads the animals with a status, or all, from the given instance or a random one; every other time with a conditional request. */
function listReader(caller: Caller): (status?: string, on?: number) => Promise<void> {
  /** The last list by path, with its ETag. */
  const known = new Map<string, { readonly tag: string; readonly rows: readonly Pet[] }>();
  return async (status, instance) => {
    const path = `/v1/pets?limit=${PAGE}${status === undefined ? '' : `&status=${status}`}`;
    const last = caller.random.pick([known.get(path), undefined]);
    const sent = { path, headers: { 'if-none-match': last?.tag }, allowed: [200, 304] };
    const list = await caller.send(sent, instance);
    const { start, end, on } = list;
    const read = list.status === 200 ? (JSON.parse(list.text) as Pet[]) : undefined;
    const rows = list.status === 304 ? last?.rows : read;
    if (rows === undefined) return;
    known.set(path, { tag: list.headers.get('etag') ?? '', rows });
    const about: ListOfPets = { status, lastId: rows.length === PAGE ? rows.at(-1)?.id : undefined };
    const shows = new Map(rows.map((pet) => [`pet:${pet.id}`, petValue(pet)]));
    caller.history.reads.push({ start, end, on, what: `GET ${path} (${list.status})`, about, shows });
  };
}

/**
 * Adds an animal, and records each attempt. With an `Idempotency-Key`, it retries until the request is acknowledged, and sometimes repeats
 * it once more. Without a key, it sends only one request.
 */
export async function addPet(
  caller: Caller,
  pet: Omit<Pet, 'id'>,
  idempotencyKey: string | undefined,
  on?: number,
): Promise<Received | undefined> {
  const headers = { 'idempotency-key': idempotencyKey };
  let first: Received | undefined;
  for (;;) {
    const allowed = idempotencyKey === undefined ? [201] : [201, 409];
    const attempt = await caller.send({ method: 'POST', path: '/v1/pets', json: pet, headers, allowed }, on);
    const { status, start, end, text } = attempt;
    const isAdded = status === 201;
    const value = petValue(pet);
    caller.history.posts.push({ start, end, value, idempotencyKey, text: isAdded ? text : undefined });
    if (idempotencyKey === undefined) return attempt;
    if (isAdded && (first !== undefined || caller.random.between(0, 1) < 0.7)) return first ?? attempt;
    if (isAdded) first = attempt;
    else await pause(RETRY_MS);
  }
}
