/** Milliseconds since the Unix epoch, from a clock that is never set. */
export const now = (): number => performance.timeOrigin + performance.now();

/** A time span in milliseconds since the Unix epoch. A request took effect at some time within it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The cause of a change: HTTP, the command line, SQL statements, or time (an expired key). */
export type Via = 'http' | 'command' | 'sql' | 'time';

/** A request to an instance. */
export interface Exchange extends Span {
  readonly what: string;
  /** The instance. */
  readonly on: number;
  /** Undefined if there was no response. */
  readonly status?: number;
  /** Expected statuses in addition to 503. */
  readonly allowed: readonly number[];
  /** Why a response with a status of at least 400 is not a valid error of the service. */
  readonly fault?: string;
}

/**
 * A value of a subject such as `pet:7`; undefined if there is none, as before the first write. Each subject has one writer, which writes
 * one value after another, and stops after a write that was not acknowledged (a span without an end), because it may still be executed
 * later.
 */
export interface Write {
  readonly subject: string;
  readonly value?: string;
  readonly start: number;
  readonly end?: number | undefined;
  readonly via: Via;
  /** The instance that acknowledged the write. */
  readonly on?: number;
}

/** The values in a response: of one subject, or of all subjects that a list covers. */
export interface Read extends Span {
  readonly what: string;
  /** The instance; undefined if the database itself was read. */
  readonly on?: number;
  readonly about: string | ListOfPets;
  readonly shows: ReadonlyMap<string, string>;
}

/** The animals that a list covers: those with a status, up to the last id if the page is full. */
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
  /** The end of the request's minute. */
  readonly reset: number;
}

/** A fault that was injected into the deployment. */
export interface Fault extends Span {
  readonly kind: FaultKind;
  /** The instance, if the fault affects only one. */
  readonly on?: number;
}

/** Kinds of faults. `redis alone` is reported by an instance: it counts without Redis. */
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

/** A row that is stored at the end of the run. */
export interface StoredPet {
  readonly id: number;
  readonly value: string;
}

/** Everything that happened in a run. */
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
  /** The time that each instance took to serve again after the last fault, in milliseconds. */
  readonly heals: number[];
  readonly stored: StoredPet[];
}

/** An empty history. */
export function emptyHistory(instances: number, limit: number): History {
  const nothing = { exchanges: [], writes: [], reads: [], posts: [], counted: [], faults: [], heals: [] };
  return structuredClone({ instances, limit, ...nothing, stored: [] });
}

/** An animal as the value of its subject. */
export function petValue(pet: { status: string; name: string; categoryId: number | string }): string {
  return `${pet.status} ${pet.name} ${pet.categoryId}`;
}

/** How long after a fault an instance, a session or a connection may still be affected, in milliseconds. */
export const AFTER_FAULT_MS = 2_000;

/** Whether two spans overlap; `slack` extends both. */
export function overlap(one: Span, other: Span, slack = 0): boolean {
  return one.start <= other.end + slack && other.start <= one.end + slack;
}

/** A time in human-readable form. */
export function time(ms: number): string {
  return ms === Infinity ? 'the end' : new Date(ms).toISOString().slice(11, 23);
}
