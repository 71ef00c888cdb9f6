/** Milliseconds since the Unix epoch, by a clock that nobody sets. */
export const now = (): number => performance.timeOrigin + performance.now();

/** A span of time, in milliseconds since the Unix epoch: a request is somewhere within it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** By what a value is changed: HTTP, the command line, statements in the database, or time (a key that expires). */
export type Via = 'http' | 'command' | 'sql' | 'time';

/** A request to an instance. */
export interface Exchange extends Span {
  readonly what: string;
  /** The instance. */
  readonly on: number;
  /** Undefined where no response came. */
  readonly status?: number;
  /** Statuses that may be sent besides 503. */
  readonly allowed: readonly number[];
  /** Why a response with a status of at least 400 is not one of the service's errors. */
  readonly fault?: string;
}

/**
 * A value of a subject such as `pet:7`; undefined is none, as before the first write. Each subject has one writer, who writes one value
 * after the other, and none after a write without an end, which was not acknowledged: it may be carried out later.
 */
export interface Write {
  readonly subject: string;
  readonly value?: string;
  readonly start: number;
  readonly end?: number | undefined;
  readonly via: Via;
  /** The instance that acknowledged it. */
  readonly on?: number;
}

/** What a response showed: of one subject, or of all that a list covers. */
export interface Read extends Span {
  readonly what: string;
  /** The instance; undefined for the database itself. */
  readonly on?: number;
  readonly about: string | ListOfPets;
  readonly shows: ReadonlyMap<string, string>;
}

/** Which animals a list shows: those of a status, up to the last id of a page that is full. */
export interface ListOfPets {
  readonly status?: string;
  readonly lastId?: number;
}

/** An attempt to add an animal. */
export interface Post extends Span {
  readonly value: string;
  readonly idempotencyKey?: string;
  /** The body of a 201. */
  readonly text?: string;
}

/** A request of the client with the small limit. */
export interface Counted extends Span {
  readonly on: number;
  readonly status?: number;
  readonly limit: number;
  readonly remaining: number;
  /** When its minute ends. */
  readonly reset: number;
}

/** What was done to the deployment. */
export interface Fault extends Span {
  readonly kind: FaultKind;
  /** The instance, of faults of one. */
  readonly on?: number;
}

/** Kinds of faults; `redis alone` is what an instance itself says: that it counts without Redis. */
export type FaultKind =
  | 'instance killed'
  | 'instance restarted'
  | 'clock set'
  | 'database failed over'
  | 'database restarted'
  | 'database paused'
  | 'database locked'
  | 'sessions ended'
  | 'redis killed'
  | 'redis paused'
  | 'redis flushed'
  | 'redis alone';

/** A row that is stored at the end. */
export interface StoredPet {
  readonly id: number;
  readonly value: string;
}

/** All that happened in a run. */
export interface History {
  readonly instances: number;
  /** The limit of the client whose requests are counted. */
  readonly limit: number;
  readonly exchanges: Exchange[];
  readonly writes: Write[];
  readonly reads: Read[];
  readonly posts: Post[];
  readonly counted: Counted[];
  readonly faults: Fault[];
  /** How long each instance took to serve again after the last fault, in milliseconds. */
  readonly heals: number[];
  readonly stored: StoredPet[];
}

/** A history in which nothing has happened. */
export function emptyHistory(instances: number, limit: number): History {
  const nothing = { exchanges: [], writes: [], reads: [], posts: [], counted: [], faults: [], heals: [] };
  return structuredClone({ instances, limit, ...nothing, stored: [] });
}

/** An animal as a value of its subject. */
export function petValue(pet: { status: string; name: string; categoryId: number | string }): string {
  return `${pet.status} ${pet.name} ${pet.categoryId}`;
}

/** How much later than a fault an instance, a session or a connection may still show it, in milliseconds. */
export const AFTER_FAULT_MS = 2_000;

/** Whether two spans have a moment in common; `slack` makes both longer. */
export function overlap(one: Span, other: Span, slack = 0): boolean {
  return one.start <= other.end + slack && other.start <= one.end + slack;
}

/** A moment as people read it. */
export function time(ms: number): string {
  return ms === Infinity ? 'the end' : new Date(ms).toISOString().slice(11, 23);
}
